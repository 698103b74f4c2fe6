"""The format for coding agents: what it says, what it leaves out, and hunks that git applies."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

import devicelint
from devicelint.finding import Edit, Fix, Related, Safety, Severity, Span
from devicelint.linter.result import CheckResult
from devicelint.output.brief import brief
from devicelint.output.hunks import hunks
from devicelint.output.reporter import ReportContext
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile
from tests.output import samples
from tests.output.scripts import BROKEN, FINE, WRONG, write
from tests.output.test_any_text import findings

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "broken").glob("*.py"))


def lines(*files: CheckResult, context: ReportContext = samples.CONTEXT) -> list[str]:
    return samples.written("agent", files, context=context).splitlines()


def test_a_finding_is_its_place_its_history_and_its_fix():
    text = samples.written("agent", [samples.awkward("train.py")])
    assert text.partition("train.py:4:9")[0] == (
        "train.py:3:23 DEV101 module-input-elsewhere: `batch` is on the CPU since line 2 "
        "[error, certain, with an accelerator]\n"
        " 1: moved to cuda\n"
        " 2: fails\n"
        " fix (safe) @@ -3 +3 @@\n"
        '-\t"\U0001f600é"; output = model(batch)\n'
        '+\t"\U0001f600é"; x; output = model(batch.to(d))\n'
    )


def test_an_unsafe_fix_says_what_it_does_and_other_files_are_named():
    text = samples.written("agent", [samples.awkward("train.py")])
    assert " /project/other.py:3: handed over\n fix (unsafe): Remove it\n@@ -5 +4,0 @@\n" in text


def test_where_there_is_no_fix_the_reason_is_given():
    reason = " no fix: a fix was tried, but it would not remove the finding"
    assert reason in lines(samples.refused())
    unexplained = replace(samples.refused().findings[0], unfixed="")
    checked = replace(samples.refused(), findings=(unexplained,))
    assert " no fix: none is known" in lines(checked)


def test_an_answer_to_a_question_needs_no_fix():
    found = lines(samples.revealed())
    assert len(found) == 2
    assert found[-1] == "Found 1 note"


def test_a_finding_is_reported_once():
    once = samples.awkward()
    twice = replace(once, findings=once.findings * 2)
    assert lines(twice)[:-1] == lines(once)[:-1]


def test_where_it_fails_comes_last():
    source = SourceFile.from_text("a\nb\nc\n", "x.py")
    related = (Related(Span(2, 3), "fails here"), Related(Span(0, 1), "moved to cuda here"))
    found = samples.finding(Span(4, 5), related=related)
    assert lines(CheckResult(source, (found,)))[1:3] == [" 1: moved to cuda", " 2: fails"]


def test_where_it_fails_is_left_out_where_it_is_found():
    source = SourceFile.from_text("a.b\n", "x.py")
    found = samples.finding(Span(2, 3), related=(Related(Span(0, 3), "fails here"),))
    assert lines(CheckResult(source, (found,)))[1] == " no fix: none is known"


def test_a_fix_of_several_findings_is_shown_once():
    source = SourceFile.from_text("a\nb\n", "x.py")
    fix = Fix("Define `device`", (Edit(Span(0, 0), "device\n"),))
    found = tuple(samples.finding(Span(at, at + 1), fix=fix) for at in (0, 2))
    assert lines(CheckResult(source, found))[1:-1] == [
        " fix (safe) @@ -0,0 +1 @@",
        "+device",
        lines(CheckResult(source, found[1:]))[0],
        " fix (safe): that of 1:1",
    ]


def test_a_long_fix_is_cut():
    text = "".join(f"x{number}\n" for number in range(30))
    edits = tuple(Edit(Span(at, at + 1), "y") for at, one in enumerate(text) if one == "x")
    checked = CheckResult(
        SourceFile.from_text(text, "x.py"), (samples.finding(Span(0, 2), fix=Fix("f", edits)),)
    )
    found = lines(checked)
    assert found[1] == " fix (safe) @@ -1,30 +1,30 @@"
    assert found[-3:-1] == ["+y9", " (20 more lines: devicelint --diff)"]


def test_lines_of_a_notebook_are_those_of_their_cells():
    found = lines(samples.notebook(as_lists=True))
    assert found[0].startswith("/project/note book.ipynb:cell 3:line 1:23 DEV101 ")
    assert found[1:4] == [
        " fix (safe) @@ cell 1 -2 @@",
        "-model = Net()",
        "+model = Net().to(d)",
    ]


def test_a_fix_in_two_files_shows_both_or_neither():
    checked, context = samples.across()
    assert lines(checked, context=context)[1:-1] == [
        " fix (safe) @@ -1 +1 @@",
        "-f(x)",
        "+f(x, d)",
        "in /project/other.py:",
        "@@ -1 +1 @@",
        "-def f(x):",
        "+def f(x, device):",
    ]
    assert lines(checked)[1:-1] == [" fix (safe): Hand it over"]


# What to do next


def in_file(path: str, **changes) -> CheckResult:
    source = SourceFile.from_text("x.cuda()\n", path)
    return CheckResult(source, (samples.finding(Span(0, 8), **changes),))


SAFE = Fix("do it", (Edit(Span(0, 0), "y = "),))
UNSAFE = replace(SAFE, safety=Safety.UNSAFE)


@pytest.mark.parametrize(
    ("files", "step"),
    [
        ([in_file("a b.py", fix=SAFE), in_file("c.py", fix=UNSAFE)], "devicelint --fix 'a b.py'"),
        ([in_file("c.py", fix=UNSAFE)], "devicelint --diff --unsafe-fixes c.py"),
        ([in_file("c.py"), samples.revealed()], "devicelint explain DEV101"),
        ([in_file(f"a/b/{n}.py", fix=SAFE) for n in range(5)], "devicelint --fix a/b"),
        ([in_file(f"{n}.py", fix=SAFE) for n in range(5)], "devicelint --fix ."),
        ([in_file(f"{n}.py", fix=SAFE) for n in range(4)], "devicelint --fix 0.py 1.py 2.py 3.py"),
    ],
)
def test_the_last_line_says_what_to_do_next(files, step):
    assert lines(*files)[-1].rpartition("; next: ")[2] == step


def test_the_last_line_counts():
    files = [in_file("a.py", fix=SAFE), in_file("b.py", severity=Severity.WARNING)]
    told = "Found 1 error, 1 warning; 1 fixable with --fix; next: devicelint --fix a.py"
    assert lines(*files)[-1] == told
    assert lines(samples.fine()) == ["No device mistakes found in 1 file"]
    assert samples.written("agent", [], samples.PROBLEMS[:1]) == (
        "/project/a dir/broken.py:3:5: syntax error: bad, 100% \\x07wrong [not checked]\n"
        "1 file not checked\n"
    )


def test_the_report_has_the_summary_and_no_other_is_printed(run):
    write("wrong.py", WRONG)
    write("broken.py", BROKEN)
    write("fine.py", FINE)
    status, out, error = run(".", "--output-format", "agent")
    assert (status, error) == (2, "broken.py:2:7: syntax error: invalid syntax\n")
    assert out.startswith("broken.py:2:7: syntax error: invalid syntax [not checked]\nwrong.py:")
    assert out.endswith(
        "Found 1 error; 1 fixable with --fix; 1 file not checked; next: devicelint --fix wrong.py\n"
    )
    summary = "Found 1 error; 1 fixable with --fix\n"
    words = ("wrong.py", "--output-format", "agent")
    assert run(*words, "--output-file", "report.txt") == (1, "", summary)
    assert run(*words, "--diff")[2] == "Would fix 1 finding in 1 file\n"


def test_there_is_never_colour(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    write("wrong.py", WRONG)
    assert "\x1b" not in run(".", "--output-format", "agent")[1]


# What a hunk is


def applied(tmp_path: Path, source: SourceFile, diff: tuple[str, ...]) -> str:
    """What git makes of a file by hunks without context."""
    (tmp_path / "x.py").write_text(source.text, encoding="utf-8", newline="")
    patch = "".join(f"{line}\n" for line in ("--- a/x.py", "+++ b/x.py", *diff))
    command = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
    subprocess.run(command, cwd=tmp_path, input=patch.encode(), check=True)
    return (tmp_path / "x.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_git_makes_the_fix_of_its_hunks(tmp_path, path):
    checked = devicelint.check(path.read_text(encoding="utf-8"), path.name)
    assert any(finding.fix for finding in checked.findings)
    for finding in checked.findings:
        if finding.fix is not None:
            diff = hunks(checked.source, finding.fix, ReportContext())
            after = applied(tmp_path, checked.source, diff)
            assert after == apply(checked.source.text, finding.fix.edits)


@given(findings())
def test_a_hunk_has_what_changes_and_nothing_else(checked):
    """Of any text, the lines that are removed are there, and each place is told apart."""
    (finding,) = checked.findings
    assert finding.fix is not None
    diff = hunks(checked.source, finding.fix, ReportContext())
    assert all(line[0] in "@-+" and "\n" not in line for line in diff)
    after = apply(checked.source.text, finding.fix.edits)
    assert bool(diff) == (after != checked.source.text)
    assert len(samples.written("agent", [checked]).split("\n")) == len(diff) + 3 + (not diff)


def test_values_are_those_of_the_text():
    (first, second) = brief(samples.awkward("train.py"), samples.CONTEXT)
    assert (first.path, first.line, first.column, first.code) == ("train.py", 3, 23, "DEV101")
    assert [(step.line, step.message) for step in first.steps] == [
        (1, "moved to cuda here"),
        (2, "fails here"),
    ]
    assert first.fix is not None
    assert (first.fix.safety, first.no_fix) == ("safe", "")
    assert second.steps[0].path == "/project/other.py"
