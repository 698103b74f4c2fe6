"""How the server starts, where it looks for files, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from devicelint.cli.mcp.folders import Folders
from tests.mcp.agent import agent_in
from tests.mcp.test_tools import WRONG

SERVER = [sys.executable, "-m", "devicelint", "mcp"]


def test_without_the_sdk_one_line_says_what_to_install(tmp_path):
    for name in ("mcp", "pydantic"):
        Path(tmp_path, f"{name}.py").write_text(f"raise ModuleNotFoundError(name='{name}')\n")
    done = subprocess.run(
        SERVER,
        env={"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = 'devicelint: the MCP server needs the package mcp: pip install "devicelint[mcp]"\n'
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_a_client_that_is_gone_leaves_no_server_behind():
    done = subprocess.run(SERVER, input="", capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_no_message_is_survived():
    begin = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        SERVER,
        input=f"no JSON\n{json.dumps(begin)}\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["result"]["serverInfo"]["name"] for one in answers if one.get("id") == 1] == [
        "devicelint"
    ]
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_it_at_once():
    with subprocess.Popen(
        SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        server.stdin.write(json.dumps(ping).encode() + b"\n")
        server.stdin.flush()
        assert server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130


def test_calls_at_the_same_time_are_answered_each(agent):
    texts = [WRONG.replace("2, 2", f"2, {size}") for size in range(3, 9)]
    with ThreadPoolExecutor(len(texts)) as callers:
        found = list(callers.map(lambda text: agent.text("fix", source=text), texts))
    assert len({one.count("+print") for one in found}) == 1
    assert all(f"2, {size}" in one for size, one in zip(range(3, 9), found, strict=True))


def test_a_root_of_the_client_is_where_relative_paths_begin(tmp_path):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (project, elsewhere):
        folder.mkdir()
    (project / "train.py").write_text(WRONG, encoding="utf-8")
    with agent_in(elsewhere, project, mode="legacy") as agent:
        (finding,) = agent.values("check", paths=["train.py"])["findings"]
        assert finding["path"] == str(project / "train.py")
        missing = project / "nope.py"
        assert (
            agent.error("check", paths=["nope.py"]) == f"{missing}:1:1: no such file or directory"
        )
        (found,) = agent.values("check", source=WRONG, filename="new.py")["findings"]
        assert found["path"] == str(project / "new.py")


def test_the_working_directory_comes_first_where_it_is_inside_of_a_root(tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    other = tmp_path / "other project"
    folders = Folders.of([tmp_path.as_uri(), other.as_uri(), "https://example.org/x"])
    assert folders.bases == (tmp_path / "inside", tmp_path, other)
    (tmp_path / "a.py").write_text("")
    assert folders.named("a.py") == str(tmp_path / "a.py")
    assert folders.named("b.py") == "b.py"
    assert folders.named(str(tmp_path / "inside" / "b.py")) == "b.py"
    assert folders.named("~/x.py") == str(Path.home() / "x.py")
    monkeypatch.chdir("/")
    assert Folders.of([other.as_uri()]).bases == (other, Path("/"))
