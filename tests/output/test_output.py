"""Formats at the command line: the same status whatever the format, and what goes where."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.cli.options.parser import check_parser
from devicelint.cli.run.output import Output
from devicelint.cli.run.report_root import report_root
from devicelint.output.formats import FORMATS
from tests.output.scripts import ASKED, BROKEN, FINE, WRONG, write

pytestmark = pytest.mark.usefixtures("in_a_folder")

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
def test_a_suppressed_finding_is_in_no_format(run, name):
    write("silenced.py", WRONG.replace("zeros(2)))", "zeros(2)))  # noqa: DEV103"))
    status, out, _ = run(".", "--output-format", name)
    assert status == 0
    assert "is passed to module `model`" not in out


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


@pytest.mark.parametrize("name", ["agent", "github", "gitlab", "sarif", "junit", "rdjson"])
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
