"""The extension for VS Code builds, and works with the server that is here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.server.settings import SETTINGS
from tests.programs import program

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"


def npm(*words: str, **environment: str) -> str:
    done = subprocess.run(
        ["npm", "--no-fund", "--no-audit", *words],
        cwd=EXTENSION,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"npm {' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install() -> None:
    """Bring what the lock names; a machine that reaches no registry skips the test."""
    if (EXTENSION / "node_modules" / "typescript-eslint").is_dir():
        return
    try:
        npm("ci")
    except AssertionError as error:
        if os.environ.get("DEVICELINT_PROGRAMS") == "required":
            raise
        pytest.skip(f"npm installs nothing here: {error}")


def test_the_extension_builds_and_shows_what_the_server_finds():
    program("npm")
    install()
    npm("run", "build")
    command = f"{sys.executable} -m devicelint"
    told = npm("test", DEVICELINT=command, PYTHONPATH=str(EXTENSION.parent.parent))
    assert "# pass 8" in told
    assert "# fail 0" in told
    npm("run", "lint")


def test_the_extension_offers_each_setting_of_the_server():
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    offered = set(package["contributes"]["configuration"]["properties"])
    own = {f"devicelint.{name}" for name in ("path", "interpreter", "args", "trace.server")}
    assert offered - own == {f"devicelint.{name}" for name in SETTINGS}


def test_the_lock_names_no_host():
    lock = (EXTENSION / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert json.loads(lock)["lockfileVersion"] == 3
