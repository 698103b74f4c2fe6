"""`--output-file` and `--report`: reports in files."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.output.scripts import BROKEN, FINE, SHORT, WRONG, write

pytestmark = pytest.mark.usefixtures("in_a_folder")

# A file for the report


def test_a_report_goes_into_a_file_and_the_summary_to_the_terminal(run):
    write("wrong.py", WRONG)
    Path("new/folder").mkdir(parents=True)
    status, out, error = run(".", "--output-file", "new/folder/ü.txt")
    assert (status, out) == (1, "")
    assert error == "Found 1 error; 1 fixable with --fix\n"
    text = Path("new/folder/ü.txt").read_text(encoding="utf-8")
    assert text.startswith("wrong.py:5:13: error DEV103 created-on-cpu: ")
    assert [path.name for path in Path("new/folder").iterdir()] == ["ü.txt"]


def test_a_report_in_a_file_has_no_colour(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    write("wrong.py", WRONG)
    run(".", "--output-file", "report.txt")
    assert "\x1b" not in Path("report.txt").read_text(encoding="utf-8")


def test_a_file_that_is_there_is_replaced_and_keeps_its_mode(run):
    write("fine.py", FINE)
    report = write("report.json", "old " * 1000)
    report.chmod(0o640)
    run(".", "--output-format", "json", "--output-file", "report.json")
    assert report.read_bytes() == b"[]\n"
    assert stat.S_IMODE(report.stat().st_mode) == 0o640


def test_differences_and_counts_go_into_the_file_as_well(run):
    write("wrong.py", WRONG.replace("\n", "\r\n"))
    assert run(".", "--diff", "--output-file", "fix.patch")[:2] == (1, "")
    assert b"+print(model(torch.zeros(2, device=" in Path("fix.patch").read_bytes()
    assert Path("fix.patch").read_bytes().count(b"\r\n") == 5
    assert run(".", "--statistics", "--output-file", "counts.txt")[:2] == (1, "")
    assert Path("counts.txt").read_text(encoding="utf-8") == "1  DEV103  [*] created-on-cpu\n"


def test_what_standard_input_becomes_stays_on_standard_output(run, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    status, out, _ = run("-", "--fix", "--output-format", "json", "--output-file", "left.json")
    assert status == 0
    assert "model(torch.zeros(2, device=" in out
    assert Path("left.json").read_text(encoding="utf-8") == "[]\n"


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output_has_names_too(run, name):
    write("wrong.py", WRONG)
    assert run(".", "--output-file", name, "--output-format", "concise")[1].startswith("wrong.py:")


def test_a_pipe_is_written_to(run):
    write("wrong.py", WRONG)
    reads, writes = os.pipe()
    run(".", "--output-file", f"/dev/fd/{writes}", "--output-format", "concise")
    os.close(writes)
    with os.fdopen(reads) as pipe:
        assert pipe.read().startswith("wrong.py:5:13: DEV103 ")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "devicelint: --output-file needs the name of a file"),
        ("a.py", "devicelint: --output-file a.py would replace a program by a report"),
        ("a.ipynb", "devicelint: --output-file a.ipynb would replace a program by a report"),
        ("folder", "devicelint: --output-file folder: is a folder"),
        (
            "folder/file/x",
            "devicelint: --output-file folder/file/x: there is no folder folder/file",
        ),
        ("old", "old:1:1: is read-only"),
        ("/dev/full", "/dev/full:1:1: cannot be written: No space left on device"),
    ],
)
def test_what_cannot_be_written_is_one_line(run, name, told):
    write("wrong.py", WRONG)
    write("folder/file", "")
    old = write("old", "old")
    old.chmod(0o400)
    status, out, error = run(".", "--output-file", name, "-q")
    assert (status, out) == (2, "")
    assert error.startswith(told)
    assert error.count("\n") == 1
    assert old.read_text(encoding="utf-8") == "old"


def test_an_interrupt_leaves_the_file_as_it_was(run, monkeypatch):
    def interrupted(*_words: object) -> None:
        raise KeyboardInterrupt

    write("wrong.py", WRONG)
    report = write("report.txt", "old")
    monkeypatch.setattr("devicelint.cli.run.output.Output.show", interrupted)
    assert run(".", "--output-file", "report.txt")[0] == 130
    assert report.read_text(encoding="utf-8") == "old"
    assert sorted(map(str, Path().glob("*"))) == [".devicelint_cache", "report.txt", "wrong.py"]


# Several reports in one run


def test_reports_are_written_besides_what_is_printed(run):
    write("wrong.py", WRONG)
    write("broken.py", BROKEN)
    Path("a").mkdir()
    status, out, _ = run(".", "--report", "sarif=a/b.sarif", "--report=junit=c=d.xml", *SHORT)
    assert status == 2
    assert out.startswith("wrong.py:5:13: DEV103 ")
    for name, file in (("sarif", "a/b.sarif"), ("junit", "c=d.xml")):
        assert Path(file).read_text(encoding="utf-8") == run(".", "--output-format", name)[1]


def test_reports_are_written_besides_counts_and_fixes(run):
    write("wrong.py", WRONG)
    out = run(".", "--statistics", "--report", "json-lines=x.jsonl")[1]
    assert out == "1  DEV103  [*] created-on-cpu\n"
    assert json.loads(Path("x.jsonl").read_text(encoding="utf-8"))["code"] == "DEV103"
    run(".", "--fix", "--report", "json=left.json")
    assert Path("left.json").read_text(encoding="utf-8") == "[]\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--report", "sarf=x"],
            'argument --report: there is no format "sarf"; did you mean "sarif"?',
        ),
        (
            ["--report", "bogus=x"],
            (
                'argument --report: there is no format "bogus": there are text, concise, agent, '
                "json, json-lines, github, gitlab, sarif, junit, rdjson"
            ),
        ),
        (["--report", "sarif"], 'argument --report: name a file: "sarif=FILE"'),
        (["--report", "sarif="], "--report needs the name of a file"),
        (["--report", "sarif=x.py"], "--report x.py would replace a program by a report"),
        (["--diff", "--report", "sarif=x"], "--report tells what is found: give it without --diff"),
        (
            ["--report", "sarif=x", "--output-file", "./x"],
            "--output-file ./x: one file cannot hold two reports",
        ),
    ],
)
def test_reports_that_make_no_sense_are_refused(run, words, told):
    write("wrong.py", WRONG)
    assert run("wrong.py", *words) == (2, "", f"devicelint: {told}\n")
