"""Formats at the command line: the same status whatever the format, and what goes where."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.cli import main
from devicelint.cli.arguments import check_parser
from devicelint.cli.output import Output
from devicelint.cli.report_root import report_root
from devicelint.reporters.formats import FORMATS

WRONG = """\
import torch
from torch import nn

model = nn.Linear(2, 2).to("cuda")
print(model(torch.zeros(2)))
"""
FINE = "import torch\n\nprint(torch.zeros(2))\n"
BROKEN = "import torch\ndef f(:\n"
ASKED = "import torch\nreveal_device(torch.zeros(2))\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capfdbinary):
    def run_it(*words: str) -> tuple[int, str, str]:
        status = main(words)
        out, error = capfdbinary.readouterr()
        return status, out.decode(), error.decode()

    return run_it


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


SHORT = ("--output-format", "concise")


# The status, whatever the format


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_does_not_change_the_status_nor_what_is_told(run, name):
    write("fine.py", FINE)
    write("wrong.py", WRONG)
    write("broken.py", BROKEN)
    write("asked.py", ASKED)
    words = ("--output-format", name)
    assert run("fine.py", *words)[0] == 0
    assert run("wrong.py", *words)[0] == 1
    assert run("wrong.py", *words, "--exit-zero")[0] == 0
    assert run("asked.py", *words)[0] == 0
    status, out, error = run(".", "missing.py", *words)
    assert status == 2
    assert "missing.py:1:1: no such file or directory\n" in error
    assert out.endswith("\n")
    assert out.isascii()


@pytest.mark.parametrize("name", FORMATS)
def test_what_could_not_be_checked_is_in_each_format_for_programs(run, name):
    write("broken.py", BROKEN)
    out = run(".", "missing.py", "--output-format", name)[1]
    if name in ("text", "concise", "json", "json-lines"):
        assert "broken" not in out
    else:
        assert "broken.py" in out
        assert "missing.py" in out


@pytest.mark.parametrize("name", FORMATS)
def test_a_silenced_finding_is_in_no_format(run, name):
    write("silenced.py", WRONG.replace("zeros(2)))", "zeros(2)))  # noqa: DEV103"))
    status, out, _ = run(".", "--output-format", name)
    assert status == 0
    assert "is an input of module `model`" not in out


def test_json_lines_are_the_entries_of_the_json(run):
    write("a.py", WRONG)
    write("b.py", WRONG)
    lines = run(".", "--output-format", "json-lines")[1].splitlines()
    assert [json.loads(line) for line in lines] == json.loads(
        run(".", "--output-format", "json")[1]
    )


def test_formats_for_programs_write_the_same_from_the_cache_and_import_no_parser():
    write("wrong.py", WRONG)
    code = (
        "import sys; from devicelint.cli import main\n"
        "for name in sys.argv[1:]:\n"
        "    assert main(['-q', 'wrong.py', '--output-format', name]) == 1\n"
        "print('libcst' in sys.modules)"
    )
    command = [sys.executable, "-c", code, *FORMATS]
    cold, warm = (
        subprocess.run(command, capture_output=True, check=True, text=True).stdout for _ in range(2)
    )
    assert cold.removesuffix("True\n") == warm.removesuffix("False\n")


# Other things that are printed


def test_a_difference_takes_the_place_of_the_report(run):
    write("wrong.py", WRONG)
    status, out, _ = run(".", "--diff", "--output-format", "sarif")
    assert status == 1
    assert out.startswith("--- a/wrong.py\n")


def test_after_fixes_the_report_is_of_what_is_left(run):
    write("wrong.py", WRONG)
    status, out, error = run(".", "--fix", "--output-format", "json")
    assert (status, json.loads(out)) == (0, [])
    assert "wrong.py:5:13: fixed DEV103" in error


def test_adoption_reports_in_each_format_what_is_left(run):
    write("wrong.py", WRONG)
    status, out, _ = run("adopt", "wrong.py", "--output-format", "junit", "-q")
    assert status == 0
    assert '<testsuites name="devicelint" tests="1" failures="0" errors="0">' in out


def test_counts_are_lines_of_json_too(run):
    write("wrong.py", WRONG)
    (line,) = run(".", "--statistics", "--output-format", "json-lines")[1].splitlines()
    assert json.loads(line)["code"] == "DEV103"


@pytest.mark.parametrize("name", ["github", "gitlab", "sarif", "junit", "rdjson"])
def test_formats_that_cannot_count_say_so(run, name):
    assert run(".", "--statistics", "--output-format", name) == (
        2,
        "",
        f"devicelint: --statistics counts as text, concise, json, json-lines, not as {name}\n",
    )


PROOF = {
    "script": "wrong.py",
    "steps": 3,
    "before": None,
    "after": [{"machine": "CPU only", "told": "3 steps", "ending": "passed"}],
    "losses": None,
    "unreached_lines": [],
    "unreached_elsewhere": [],
    "problems": [],
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_proof_never_stands_in_the_middle_of_a_report_for_programs(capfd, name):
    output = Output(check_parser().parse(["wrong.py", "--output-format", name]))
    output.show_proof(PROOF)
    output.close([])
    out, error = capfd.readouterr()
    table = "in 3 steps   as it is\nCPU only     3 steps\n"
    if name in ("text", "concise"):
        assert (out, error) == (table, "")
    elif name == "json":
        assert (json.loads(out), error) == ({"findings": [], "proof": PROOF}, "")
    else:
        assert "3 steps" not in out
        assert error == table


def test_a_proof_stands_beside_counts_and_in_another_report(capfd):
    words = ["wrong.py", "--statistics", "--output-format", "json", "--report", "json=x.json"]
    output = Output(check_parser().parse(words))
    output.show_proof(PROOF)
    output.close([])
    out, error = capfd.readouterr()
    assert (out, error) == ("[]\n", "in 3 steps   as it is\nCPU only     3 steps\n")
    assert json.loads(Path("x.json").read_text(encoding="utf-8"))["proof"] == PROOF


# A file for the report


def test_a_report_goes_into_a_file_and_the_summary_to_the_terminal(run):
    write("wrong.py", WRONG)
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
        ("folder", "folder:1:1: is a directory"),
        ("folder/file/x", "folder/file/x:1:1: cannot be written: "),
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
    monkeypatch.setattr("devicelint.cli.output.Output.show", interrupted)
    assert run(".", "--output-file", "report.txt")[0] == 130
    assert report.read_text(encoding="utf-8") == "old"
    assert sorted(map(str, Path().glob("*"))) == [".devicelint_cache", "report.txt", "wrong.py"]


# Several reports in one run


def test_reports_are_written_besides_what_is_printed(run):
    write("wrong.py", WRONG)
    write("broken.py", BROKEN)
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


# Names of files


def test_files_are_named_from_the_checkout(run, monkeypatch, tmp_path):
    write("repository/src/deep/wrong.py", WRONG)
    monkeypatch.chdir("repository/src")

    def path() -> str:
        issues = json.loads(run("deep", "--output-format", "gitlab")[1])
        told: str = issues[0]["location"]["path"]
        return told

    assert path() == "deep/wrong.py"
    (tmp_path / "repository/.git").mkdir()
    assert path() == "src/deep/wrong.py"
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path / "repository/src"))
    assert path() == "deep/wrong.py"


def test_a_checkout_elsewhere_is_not_the_root(tmp_path):
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert report_root({"GITHUB_WORKSPACE": "/github/workspace"}) == tmp_path
    assert report_root({"GITHUB_WORKSPACE": str(tmp_path.parent)}) == tmp_path


# Standard output that is closed, or full


def devicelint(redirected: str) -> subprocess.CompletedProcess[str]:
    command = f"exec '{sys.executable}' -m devicelint -q wrong.py {redirected}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("redirected", "status", "told"),
    [
        (">&- 2>&-", 1, ""),
        (">/dev/full", 2, "devicelint: standard output: No space left on device\n"),
    ],
)
def test_closed_and_full_outputs(redirected, status, told):
    write("wrong.py", WRONG)
    done = devicelint(redirected)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", told)
