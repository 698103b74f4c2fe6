"""Neovim, set up as docs/editors.md says, shows what the server finds, and fixes it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.test_editors_page import blocks
from tests.server.test_server import CLASH, FIXED

NEW, OLD, ON_SAVE = blocks("lua")

WAIT = """
local function has_findings() return #vim.diagnostic.get(0) > 0 end
local function finish(status, told)
  io.stdout:write(vim.json.encode(told))
  vim.cmd(status)
end
vim.cmd.edit(vim.env.FILE)
if not vim.wait(60000, has_findings, 50) then
  finish("cquit", vim.lsp.get_log_path())
end
local found = vim.tbl_map(
  function(one) return { code = one.code, source = one.source, line = one.lnum } end,
  vim.diagnostic.get(0)
)
vim.cmd.write()
vim.wait(60000, function() return not has_findings() end, 50)
vim.cmd("noautocmd write")
finish("qall!", found)
"""


def version(nvim: str) -> tuple[int, ...]:
    told = subprocess.run([nvim, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", told)
    assert found is not None
    return tuple(map(int, found.groups()))


def opened(nvim: str, config: str, folder: Path) -> list[dict[str, object]]:
    """What is shown of a file once it is opened; it is then saved, and fixed."""
    (folder / "bin").mkdir()
    command = folder / "bin" / "devicelint"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m devicelint "$@"\n')
    command.chmod(0o755)
    (folder / "pyproject.toml").write_text("")
    (folder / "train.py").write_text(CLASH)
    (folder / "init.lua").write_text(config)
    (folder / "wait.lua").write_text(WAIT)
    homes = {
        f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [nvim, "--headless", "-n", "-u", "init.lua", "-c", "luafile wait.lua"],
        cwd=folder,
        env={**os.environ, **homes, "PATH": path, "FILE": str(folder / "train.py")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "Error" not in done.stderr, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="the command is a shell script")
@pytest.mark.parametrize(("config", "since"), [(NEW, (0, 11)), (OLD, (0, 8))], ids=["0.11", "0.8"])
def test_findings_are_shown_and_fixed_on_save(config, since, tmp_path):
    nvim = shutil.which("nvim")
    if nvim is None:
        pytest.skip("nvim is not on this machine")
    if version(nvim) < since:
        pytest.skip(f"this Neovim is older than {'.'.join(map(str, since))}")
    found = opened(nvim, f"vim.cmd('filetype on')\n{config}\n{ON_SAVE}", tmp_path)
    assert found == [{"code": "DEV103", "source": "devicelint", "line": 3}]
    assert (tmp_path / "train.py").read_text() == FIXED
