"""How a server starts, what it survives, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.server.editor import EVERYTHING, Editor, at
from tests.server.test_server import CLASH, codes

SERVER = [sys.executable, "-m", "devicelint", "server"]


def framed(*messages: object) -> bytes:
    bodies = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
    return b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)


def asked(method: str, number: int | None = None, **params: object) -> dict[str, object]:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if number is None else {**message, "id": number}


BEGIN = asked("initialize", 1, processId=None, rootUri=None, capabilities={})
END = [asked("shutdown", 2), {"jsonrpc": "2.0", "method": "exit"}]


def served(data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [*SERVER, *arguments]
    return subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)


def answers(output: bytes) -> list[dict[str, object]]:
    found = []
    while output:
        head, _, rest = output.partition(b"\r\n\r\n")
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        found.append(json.loads(rest[:length]))
        output = rest[length:]
    return found


def test_who_takes_leave_gets_status_zero_and_who_does_not_gets_one():
    done = served(framed(BEGIN, *END))
    assert (done.returncode, done.stderr) == (0, b"")
    assert [one.get("id") for one in answers(done.stdout)] == [1, 2]
    gone = served(framed(BEGIN, END[1]))
    assert (gone.returncode, gone.stderr) == (1, b"")


def test_an_editor_that_vanishes_leaves_no_server_behind():
    assert served(framed(BEGIN)).returncode == 1


NOWHERE = {"uri": "file:///nowhere.py", "version": 1}
START = {"line": 0, "character": 0}


BUSY = """\
import threading, devicelint.views.editor, devicelint.server.stdio as serving
def analyse(*given):
    begun.set()
    threading.Event().wait()
begun = threading.Event()
devicelint.views.editor.analyse_alone = analyse
threading.Thread(target=lambda: (begun.wait(), print("begun", flush=True)), daemon=True).start()
serving.serve()
"""


@pytest.mark.parametrize("ends_with", [[], [END[1]], END], ids=["killed", "rude", "polite"])
def test_an_analysis_that_goes_on_keeps_no_server_alive(ends_with):
    document = {"uri": "file:///train.py", "languageId": "python", "version": 1, "text": CLASH}
    with subprocess.Popen(
        [sys.executable, "-c", BUSY],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stderr is not None
        opened = asked("textDocument/didOpen", textDocument=document)
        server.stdin.write(framed(BEGIN, opened))
        server.stdin.flush()
        assert server.stderr.readline() == b"begun\n"
        server.stdin.write(framed(*ends_with))
        server.stdin.close()
        assert server.wait(timeout=60) == (0 if ends_with == END else 1)


@pytest.mark.skipif(sys.platform == "win32", reason="there, nobody can ask for a process")
def test_a_server_leaves_with_its_editor_though_its_input_stays_open():
    with subprocess.Popen([sys.executable, "-c", ""]) as editor:
        editor.wait()
    begin = asked("initialize", 1, processId=editor.pid, rootUri=None, capabilities={})
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        server.stdin.write(framed(begin, asked("initialized")))
        server.stdin.flush()
        assert server.wait(timeout=60) == 1


def test_somebody_at_a_terminal_is_told_and_can_leave(tmp_path):
    pexpect = pytest.importorskip("pexpect", reason="there are no pseudo-terminals")
    child = pexpect.spawn(SERVER[0], SERVER[1:], timeout=60, encoding="utf-8")
    child.expect_exact("waiting for an editor on standard input; Ctrl+C ends it")
    child.sendintr()
    child.expect_exact("devicelint: interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def test_garbage_between_messages_is_told_of_and_passed_over():
    garbage = [
        b"{", b"[]", b"null", b"\xff\xfe", b'"x"', b'{"jsonrpc": "1.0"}', b'{"jsonrpc": "2.0"}',
        asked("textDocument/didChange", textDocument={}, contentChanges=3),
        asked("textDocument/didChange", textDocument=NOWHERE, contentChanges=[]),
        asked("textDocument/hover", 7, textDocument=NOWHERE, position=START),
        asked("no/such", 8),
        asked("workspace/executeCommand", 9, command="devicelint.fixAll", arguments=[1, 2]),
    ]  # fmt: skip
    done = served(framed(BEGIN, *garbage, *END))
    assert (done.returncode, done.stderr) == (0, b"")
    told = {one.get("id"): one for one in answers(done.stdout) if "id" in one}
    assert told[7]["result"] is None
    assert "error" in told[8]
    assert "error" in told[9]
    assert "Traceback" not in json.dumps([one.get("params") for one in answers(done.stdout)])


def test_a_log_holds_the_messages(tmp_path):
    log = tmp_path / "server.log"
    assert served(framed(BEGIN, *END), "--log", str(log)).returncode == 0
    assert "initialize" in log.read_text(encoding="utf-8")
    refused = served(framed(BEGIN), "--log", str(tmp_path / "no" / "server.log"))
    assert refused.returncode == 2
    assert refused.stderr.decode().splitlines() == [
        f"{tmp_path / 'no' / 'server.log'}:1:1: cannot be written: No such file or directory"
    ]


def test_without_pygls_one_line_says_what_to_install(tmp_path):
    for name in ("pygls", "lsprotocol"):
        Path(tmp_path, f"{name}.py").write_text(f"raise ModuleNotFoundError(name='{name}')\n")
    done = subprocess.run(
        SERVER,
        env={"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    told = 'devicelint: the language server needs pygls: pip install "devicelint[server]"\n'
    assert (done.stdout, done.stderr) == ("", told)


def test_what_a_plug_in_prints_does_not_come_between_messages(tmp_path):
    program = (
        "import os, sys, devicelint.server.server as r, devicelint.server.stdio as s\n"
        "def begin(self, params):\n"
        "    print('printed'); os.write(1, b'written')\n"
        "r.Server.begin = begin\n"
        "sys.exit(s.serve())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=framed(BEGIN, *END), capture_output=True, check=False
    )
    assert [one.get("id") for one in answers(done.stdout)] == [1, 2]
    assert done.stderr in {b"printed\nwritten", b"writtenprinted\n"}


IMPORTING = """\
import torch
from data import model

print(model(torch.ones(2, 3)))
"""


@pytest.fixture
def start(tmp_path):
    started: list[Editor] = []

    def start(settings: object = None, **also) -> Editor:
        started.append(Editor(tmp_path, settings, **also))
        return started[-1]

    yield start
    for editor in started:
        assert editor.leave() == 0


PULLING = lsp.ClientCapabilities(
    workspace=EVERYTHING.workspace,
    text_document=lsp.TextDocumentClientCapabilities(diagnostic=lsp.DiagnosticClientCapabilities()),
    general=lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind.Utf8]),
)


def test_an_editor_that_asks_for_findings_is_not_told_unasked(start, tmp_path):
    editor = start(capabilities=PULLING)
    options = editor.capabilities.diagnostic_provider
    assert (options.identifier, options.inter_file_dependencies) == ("devicelint", True)
    uri = editor.open(tmp_path / "train.py", CLASH.replace("x = t", '"é"; x = t'))
    asked = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
    report = editor.ask(lsp.TEXT_DOCUMENT_DIAGNOSTIC, asked)
    assert codes(report.items) == [("DEV103", 3, 10)]
    assert editor.shown == {}
    missing = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier("file:///none.py"))
    assert editor.ask(lsp.TEXT_DOCUMENT_DIAGNOSTIC, missing).items == ()
    (tmp_path / "devicelint.toml").write_text('ignore = ["DEV1"]\n')
    event = lsp.FileEvent((tmp_path / "devicelint.toml").as_uri(), lsp.FileChangeType.Created)
    changed = lsp.DidChangeWatchedFilesParams([event])
    editor.tell(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, changed)
    editor.wait_for(lambda: "workspace/diagnostic/refresh" in editor.refreshed)
    assert editor.ask(lsp.TEXT_DOCUMENT_DIAGNOSTIC, asked).items == ()


def test_an_editor_that_asks_is_told_to_ask_again_where_another_file_changed(start, tmp_path):
    editor = start(capabilities=PULLING)
    data = tmp_path / "data.py"
    data.write_text("import torch\n\nmodel = torch.nn.Linear(3, 1)\n")
    other = editor.open(tmp_path / "other.py", IMPORTING)
    there = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(other))
    assert editor.ask(lsp.TEXT_DOCUMENT_DIAGNOSTIC, there).items == ()
    editor.open(data, data.read_text() + 'model.to("cuda")\n')
    editor.wait_for(lambda: "workspace/diagnostic/refresh" in editor.refreshed)
    assert codes(editor.ask(lsp.TEXT_DOCUMENT_DIAGNOSTIC, there).items) == [("DEV103", 3, 12)]


def test_settings_of_the_editor_hold_besides_those_of_the_project(start, tmp_path):
    editor = start({"ignore": ["DEV103"], "inlayHints": False, "inlayHint": 1, "select": ["XY1"]})
    editor.wait_for(lambda: len(editor.said) >= 2)
    hint = 'there is none of this name; did you mean "inlayHints"?'
    assert editor.said[:2] == [
        f'devicelint: setting "devicelint.inlayHint": {hint}',
        'devicelint: setting "devicelint.select": no rule is called "XY1"',
    ]
    uri = editor.open(tmp_path / "train.py", CLASH)
    assert editor.found(uri) == []
    editor.settings = {"showSyntaxErrors": False}
    editor.tell(
        lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, lsp.DidChangeConfigurationParams(settings=None)
    )
    editor.wait_for(lambda: editor.shown[uri][-1].diagnostics)
    editor.type(uri, 2, "def (", at(0, 0, 0))
    assert codes(editor.found(uri, 2)) == [("DEV103", 3, 4)]


def test_an_editor_that_knows_little_is_served_all_the_same(start, tmp_path):
    editor = start(capabilities=lsp.ClientCapabilities())
    uri = editor.open(tmp_path / "train.py", CLASH)
    assert codes(editor.found(uri)) == [("DEV103", 3, 4)]
    (action, *_) = editor.actions(uri, at(3, 5))
    assert [one.new_text for one in action.edit.changes[uri]] == [', device="cuda"']


def test_each_folder_of_a_window_has_its_own_settings(start, tmp_path):
    paths = {name: tmp_path / name for name in ("strict", "quiet")}
    for path in paths.values():
        path.mkdir()
    folders = [lsp.WorkspaceFolder(path.as_uri(), name) for name, path in paths.items()]
    editor = start({}, workspace_folders=folders)
    editor.settings_of[paths["quiet"].as_uri()] = {"ignore": ["DEV103"], "hover": False}
    editor.tell(
        lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, lsp.DidChangeConfigurationParams(settings=None)
    )
    uris = {name: editor.open(path / "train.py", CLASH) for name, path in paths.items()}
    editor.wait_for(lambda: editor.newest(uris["quiet"]) == [])
    editor.wait_for(lambda: editor.newest(uris["strict"]))
    hovers = {
        name: editor.ask(
            lsp.TEXT_DOCUMENT_HOVER,
            lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(3, 0)),
        )
        for name, uri in uris.items()
    }
    assert hovers["strict"] is not None
    assert hovers["quiet"] is None
    # Without that folder, its settings are forgotten.
    event = lsp.WorkspaceFoldersChangeEvent(added=[], removed=[folders[1]])
    editor.tell(
        lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, lsp.DidChangeWorkspaceFoldersParams(event)
    )
    editor.wait_for(lambda: editor.newest(uris["quiet"]))


def test_the_settings_say_how_sure_a_finding_has_to_be(start, tmp_path):
    editor = start({"certainty": "sure"})
    editor.wait_for(lambda: editor.said)
    assert editor.said[0] == (
        'devicelint: setting "devicelint.certainty": expected "certain" or "contract" or "possible"'
    )
