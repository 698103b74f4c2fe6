"""The command line of the guard: what it understands, what it answers, what it leaves behind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from runtime_guard.command_line import UsageError
from runtime_guard.errors import DeviceMismatchError
from runtime_guard.launcher import cli as _cli
from runtime_guard.launcher.activation import FINDINGS
from runtime_guard.launcher.cli import main, parse
from runtime_guard.launcher.findings import leave_findings
from runtime_guard.launcher.outcome import Outcome
from runtime_guard.launcher.script import Module, Script
from runtime_guard.mismatch import Mismatch, TensorFacts
from runtime_guard.settings import Environment, Settings
from runtime_guard.witnesses import witnesses


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Set by the code under test; put back to what it was by the fixture.
    monkeypatch.setenv(FINDINGS, "")


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("train.py", Script("train.py")),
        ("train.py --steps 3 -m x", Script("train.py", ("--steps", "3", "-m", "x"))),
        ("train.py --help --version", Script("train.py", ("--help", "--version"))),
        ("--steps 3 train.py 4", Script("train.py", ("4",))),
        ("--steps=3 train.py", Script("train.py")),
        ("--check-meta train.py", Script("train.py")),
        ("-- train.py -- x", Script("train.py", ("--", "x"))),
        ("-- -odd.py", Script("-odd.py")),
        ("./report x", Script("./report", ("x",))),
        ("-m pkg.train --lr 1 -m", Module("pkg.train", ("--lr", "1", "-m"))),
        ("--every 2 -mpkg.train a", Module("pkg.train", ("a",))),
        ("-- -m pkg.train", Module("pkg.train")),
    ],
)
def test_what_follows_the_program_belongs_to_it(line, program):
    assert parse(line.split()).program == program


@pytest.mark.parametrize(
    ("line", "environment"),
    [
        ("", Environment("check")),
        ("--action raise", Environment("check")),
        ("--action warn", Environment("warn", Settings("warn"))),
        ("--action=move --steps 4", Environment("move", Settings("move", steps=4))),
        ("--action explain", Environment("explain")),
        ("--every 10 --check-meta", Environment("check", Settings(every=10, meta=True))),
        (
            "--only encoder.* --only head,neck --skip encoder.0",
            Environment("check", Settings(only=("encoder.*", "head", "neck"), skip=("encoder.0",))),
        ),
    ],
)
def test_options_say_how_to_guard(line, environment):
    assert parse([*line.split(), "train.py"]).environment == environment


def test_files_are_found_again_from_another_folder(tmp_path):
    command = parse(["--record", "run.jsonl", "--json", "found.json", "train.py"])
    assert command.environment.record == str(tmp_path / "run.jsonl")
    assert command.json_path == tmp_path / "found.json"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--stpes 3 train.py", 'there is no option "--stpes"; did you mean "--steps"?'),
        ("--frobnicate train.py", 'there is no option "--frobnicate"'),
        ("--step 3 train.py", 'there is no option "--step"; did you mean "--steps"?'),
        ("-x train.py", 'there is no option "-x"'),
        ("--steps", "argument --steps: expected one argument"),
        ("--steps 0 train.py", "--steps is '0': expected a whole number, 1 or more"),
        ("--steps two train.py", "--steps is 'two': expected a whole number, 1 or more"),
        ("--every -1 train.py", "--every is '-1': expected a whole number, 1 or more"),
        (
            "--action rise train.py",
            "--action is 'rise': expected one of raise, warn, move, explain, off",
        ),
        ("--steps 3", "there is no script to run; --help shows how to name one"),
        ("--", "there is no script to run; --help shows how to name one"),
        ("-m", "-m needs the name of a module"),
        ("-", "a script cannot be read from standard input: give it a file"),
        ("--json . train.py", "--json is '.': it is a folder"),
        ("--json a/b.json train.py", "--json is 'a/b.json': there is no folder '{folder}/a'"),
        ("--record a/b train.py", "--record is 'a/b': there is no folder '{folder}/a'"),
    ],
)
def test_a_line_that_makes_no_sense_is_answered_in_one_line(line, message, capsys, tmp_path):
    with pytest.raises(UsageError):
        parse(line.split())
    assert main(line.split()) == 2
    expected = f"runtime_guard: {message.format(folder=tmp_path)}\n"
    assert capsys.readouterr() == ("", expected)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--json other.py train.py", "--json is 'other.py': it would overwrite a program"),
        ("--record train train", "--record is 'train': it would overwrite the script"),
        ("--json link train", "--json is 'train': it would overwrite the script"),
        (
            "--record run --json ./run train",
            "--record and --json name the same file: each needs its own",
        ),
        ("--json= train.py", "--json is empty: expected the name of a file"),
        ("--record /dev/null train", "--record is '/dev/null': a device cannot be read back"),
    ],
)
def test_nothing_that_is_needed_is_overwritten(line, message, capsys, tmp_path):
    (tmp_path / "train").touch()
    (tmp_path / "other.py").touch()
    (tmp_path / "link").symlink_to("train")
    assert main(line.split()) == 2
    assert capsys.readouterr().err == f"runtime_guard: {message}\n"


def test_a_file_that_cannot_be_written_is_told_before_the_run(monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UsageError, match="it cannot be written"):
        parse(["--json", "found.json", "train.py"])


def test_nothing_at_all_shows_the_help(capsys):
    assert main([]) == 2
    assert "usage: python -m runtime_guard [OPTIONS] SCRIPT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "start"), [("--help", "usage: python -m"), ("--version", "runtime_guard 0.")]
)
def test_it_shows_what_it_is_asked_for(option, start, capsys):
    with pytest.raises(SystemExit) as leaving:
        main([option, "train.py"])
    assert not leaving.value.code
    assert capsys.readouterr().out.startswith(start)


def test_the_help_names_every_action_and_option(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for word in (
        *_cli.ACTIONS,
        "--steps",
        "--only",
        "--json",
        "-m MODULE",
        "report FILE",
        "./report",
    ):
        assert word in text


def mismatch(module: str = "encoder", size: int = 4) -> Mismatch:
    tensor = TensorFacts("cpu", (size,), "torch.float32", 4 * size)
    return Mismatch(module, "Linear", "input", tensor, "cuda:0", "parameter 'weight'")


def activation(*found: Mismatch, moved: tuple[Mismatch, ...] = (), action: str = "warn"):
    moves = [SimpleNamespace(mismatch=each, count=2, bytes=each.tensor.bytes) for each in moved]
    guard = SimpleNamespace(mismatches=list(found), moved=moves, steps_done=5)
    asked = Environment("warn", Settings(action))  # type: ignore[arg-type]
    return SimpleNamespace(guard=guard, asked=asked, handles=[guard])


def told(outcome: Outcome, capsys, error: BaseException | None = None) -> str:
    outcome.notice(error)
    outcome.report()
    printed = capsys.readouterr()
    assert printed.out == ""
    return str(printed.err)


def test_a_run_without_a_mismatch_ends_in_silence(capsys):
    assert told(Outcome(activation(), None), capsys) == ""


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (activation(mismatch()), "1 mismatch; each is described above, with what to write"),
        (
            activation(mismatch("a"), mismatch("b"), moved=(mismatch("a", 300_000),)),
            "2 mismatches, 1.2 MB moved; each is described above, with what to write",
        ),
        (
            activation(mismatch(), action="raise"),
            "1 mismatch; each is raised above, with what to write",
        ),
    ],
)
def test_what_was_found_is_told_in_one_line(found, line, capsys):
    assert told(Outcome(found, None), capsys) == f"runtime_guard: {line}\n"


def test_the_error_that_ended_the_run_needs_no_other_line(capsys):
    found = activation(mismatch(), action="raise")
    assert told(Outcome(found, None), capsys, DeviceMismatchError("x", [mismatch()])) == ""
    assert told(Outcome(found, None), capsys, ValueError("x")) != ""


def test_the_document_holds_all_that_was_found(capsys, tmp_path):
    path = tmp_path / "found.json"
    path.write_text("old")
    found = activation(mismatch("a"), moved=(mismatch("a"),))
    error = ValueError("too small")
    line = told(Outcome(found, path), capsys, error)
    assert line == f"runtime_guard: 1 mismatch, 16 B moved; written to {path}\n"
    document = json.loads(path.read_text())
    assert list(document) == [
        *("status", "error", "virtual_gpu", "mismatches", "moved", "steps", "version", "torch")
    ]
    assert document["status"] == 1
    assert document["error"] == {"type": "ValueError", "message": "too small"}
    assert document["mismatches"] == [json.loads(json.dumps(mismatch("a").to_dict()))]
    assert document["moved"][0]["mismatch"] == document["mismatches"][0]
    assert (document["moved"][0]["count"], document["moved"][0]["bytes"]) == (2, 16)
    assert document["steps"] == 5
    assert [file.name for file in tmp_path.iterdir()] == ["found.json"]


def test_what_children_left_is_told_once(capsys, tmp_path):
    path = tmp_path / "found.json"
    outcome = Outcome(activation(mismatch("own")), path)
    folder = Path(os.environ[FINDINGS])
    leave_findings(activation(mismatch("own"), mismatch("theirs")), folder)
    assert told(outcome, capsys).startswith("runtime_guard: 2 mismatches")
    paths = [each["module"] for each in json.loads(path.read_text())["mismatches"]]
    assert paths == ["own", "theirs"]
    assert not folder.exists()


def test_a_document_that_cannot_be_written_is_told(capsys, tmp_path):
    path = tmp_path / "gone" / "found.json"
    errors = told(Outcome(activation(), path), capsys)
    assert errors == f"runtime_guard: cannot write {path}: No such file or directory\n"


def test_a_device_stays_a_device(capsys, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    told(Outcome(activation(), pipe), capsys)
    # One document, the last.
    assert json.loads(os.read(reader, 10_000))["status"] == 0
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("program", "status", "error"),
    [
        ("print('fine')", 0, None),
        ("raise SystemExit(3)", 3, None),
        ("1 / 0", 1, {"type": "ZeroDivisionError", "message": "division by zero"}),
        ("x = (", 1, {"type": "SyntaxError", "message": "'(' was never closed (train.py, line 1)"}),
        ("import os, sys\nif os.fork() == 0:\n    sys.exit(4)\nos.wait()", 0, None),
        ("import os\nos.chdir('/')\nimport sys\nsys.stderr.close()", 0, None),
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=[0.2]).start()",
            0,
            None,
        ),
    ],
)
def test_a_run_leaves_its_document_however_it_ends(program, status, error, tmp_path):
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "runtime_guard", "--json", "found.json", "train.py"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["status"] == done.returncode == status
    assert document["error"] == error
    assert document["torch"] is None


def test_a_run_that_is_killed_leaves_what_it_had_found_and_nothing_older(capsys, tmp_path):
    path = tmp_path / "found.json"
    path.write_text("of an earlier run")
    running = activation()
    outcome = Outcome(running, path)
    assert json.loads(path.read_text())["mismatches"] == []
    running.guard.mismatches.append(mismatch("encoder"))
    for witness in tuple(witnesses):
        witness(mismatch("encoder"))
    document = json.loads(path.read_text())
    assert (document["status"], len(document["mismatches"])) == (None, 1)
    told(outcome, capsys)
    assert witnesses == []


TRAIN = """\
import sys

import torch
from torch import nn


def train():
    model = nn.Sequential(nn.Linear(4, 2, bias=False), nn.ReLU())
    model(torch.randn(3, 4, device="meta"))
    print("trained", sys.argv)


train()
"""


def guarded(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(TRAIN)
    words = ["-m", "runtime_guard", "--check-meta", *options, "train.py", "--steps"]
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_wrong_device_stops_the_script_with_its_own_traceback(tmp_path):
    done = guarded(tmp_path, "--json", "found.json")
    assert (done.returncode, done.stdout) == (1, "")
    # Python 3.13 underlines more of the lines.
    lines = [line for line in done.stderr.splitlines() if line.strip(" ~^")]
    assert lines[:5] == [
        "Traceback (most recent call last):",
        f'  File "{tmp_path}/train.py", line 13, in <module>',
        "    train()",
        f'  File "{tmp_path}/train.py", line 9, in train',
        '    model(torch.randn(3, 4, device="meta"))',
    ]
    assert str(Path(_cli.__file__).parent) not in done.stderr
    assert lines[-1].startswith("  to fix it:")
    document = json.loads((tmp_path / "found.json").read_text())
    assert (document["status"], document["error"]["type"]) == (1, "DeviceMismatchError")
    assert document["error"]["message"].splitlines()[-1] == lines[-1]
    assert [each["module"] for each in document["mismatches"]] == ["0"]


def test_warning_lets_the_script_go_on_and_sums_up_at_the_end(tmp_path):
    done = guarded(tmp_path, "--action", "warn")
    assert (done.returncode, done.stdout) == (0, "trained ['train.py', '--steps']\n")
    assert done.stderr.startswith("train.py:9: DeviceMismatchWarning: 0 (Linear) has")
    last = "runtime_guard: 1 mismatch; each is described above, with what to write"
    assert done.stderr.splitlines()[-1] == last
