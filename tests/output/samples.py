"""Findings that are hard to write down, put together by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from devicelint.finding import (
    Certainty,
    Edit,
    Elsewhere,
    FileEdits,
    Finding,
    Fix,
    InputError,
    Related,
    Safety,
    Severity,
    Span,
)
from devicelint.linter.result import CheckResult
from devicelint.output import formats
from devicelint.output.reporter import ReportContext
from devicelint.text.source import SourceFile

SCHEMAS = Path(__file__).parent / "schemas"
ROOT = "/project"
CONTEXT = ReportContext(root=ROOT)

AWKWARD = """\
model = Net().to(device)
for batch in loader:\r
\t"\U0001f600é"; output = model(batch)
\tloss = f(
\t\toutput,
\t\ttarget)
"""

CELLS = ["import torch\nmodel = Net()", "# Text", 'x = "\U0001f600é\\t"; y = model(x)\nz = 1\n']


def span(text: str, part: str) -> Span:
    start = text.index(part)
    return Span(start, start + len(part))


def finding(where: Span, **changes) -> Finding:
    told = {
        "code": "DEV101",
        "name": "module-input-elsewhere",
        "severity": Severity.ERROR,
        "message": "`batch` is on the CPU since line 2",
        **changes,
    }
    return Finding(span=where, **told)


def awkward(path: str = f"{ROOT}/a dir/größe #1%/train.py") -> CheckResult:
    """Two edits around characters beyond the first plane, and a finding over several lines."""
    source = SourceFile.from_text(AWKWARD, path)
    batch = span(AWKWARD, "(batch)")
    called = Span(batch.start + 1, batch.end - 1)
    insertion = Span(AWKWARD.index("output"), AWKWARD.index("output"))
    moving = Fix("Move it", (Edit(Span(called.end, called.end), ".to(d)"), Edit(insertion, "x; ")))
    origins = (
        Related(span(AWKWARD, "to(device)"), "moved to cuda here"),
        Related(span(AWKWARD, "loader"), "fails here"),
        Related(span(AWKWARD, "loader"), "fails here"),
    )
    deleted = Fix("Remove it", (Edit(span(AWKWARD, "\t\toutput,\n"), ""),), Safety.UNSAFE)
    whole = span(AWKWARD, "f(\n\t\toutput,\n\t\ttarget)")
    return CheckResult(
        source,
        (
            finding(called, related=origins, fix=moving, machine="with an accelerator"),
            finding(
                whole,
                severity=Severity.WARNING,
                code="DEV401",
                certainty=Certainty.BELIEF,
                message="100%: a\r\nb ::error::, \x1b[1m ]]> <&> \ud800\x00é\U0001f600",
                elsewhere=(Elsewhere(f"{ROOT}/other.py", 3, 4, "handed over here"),),
                fix=deleted,
            ),
        ),
    )


def refused() -> CheckResult:
    """A finding whose fix was tried, and is not offered."""
    source = SourceFile.from_text("x.cuda()\n", f"{ROOT}/refused.py")
    unfixed = "a fix was tried, but it would not remove the finding"
    return CheckResult(source, (finding(Span(0, 8), unfixed=unfixed),))


def revealed() -> CheckResult:
    source = SourceFile.from_text("reveal_device(x)\n", "/elsewhere/x.py")
    answer = finding(Span(14, 15), code="DEV000", name="revealed-device", severity=Severity.NOTE)
    return CheckResult(source, (answer,))


def fine() -> CheckResult:
    return CheckResult(SourceFile.from_text("import torch\n", f"{ROOT}/fine.py"), ())


def across() -> tuple[CheckResult, ReportContext]:
    """A finding whose fix is in two files, and a scene where the other one can be read."""
    other = SourceFile.from_text("def f(x):\n    return é\n", f"{ROOT}/other.py")
    edits = FileEdits(other.path, (Edit(Span(7, 7), ", device"),))
    fix = Fix("Hand it over", (Edit(Span(3, 3), ", d"),), elsewhere=(edits,))
    source = SourceFile.from_text("f(x)\n", f"{ROOT}/main.py")
    context = ReportContext(root=ROOT, read={other.path: other}.get)
    return CheckResult(source, (finding(Span(2, 3), fix=fix),)), context


def notebook_of(cells: Iterable[str], *, as_lists: bool) -> dict[str, object]:
    """A notebook; what begins with `#` and a blank is text."""
    return {
        "cells": [
            {
                "cell_type": "markdown" if text.startswith("# ") else "code",
                "metadata": {},
                "source": text.splitlines(keepends=True) if as_lists else text,
                **({} if text.startswith("# ") else {"outputs": [], "execution_count": None}),
            }
            for text in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 4,
    }


def notebook(*, as_lists: bool, ascii_only: bool = False) -> CheckResult:
    """A finding in the third cell of a notebook, with a fix of two cells."""
    document = notebook_of(CELLS, as_lists=as_lists)
    raw = json.dumps(document, indent=1, ensure_ascii=ascii_only)
    source = SourceFile.from_text(raw, f"{ROOT}/note book.ipynb")
    end = span(source.text, "model(x)").end - 1
    built = span(source.text, "Net()").end
    fix = Fix("Move both", (Edit(Span(end, end), ".to(d)"), Edit(Span(built, built), ".to(d)")))
    where = Span(end - 1, end)
    return CheckResult(source, (finding(where, fix=fix),))


NOTEBOOKS = [notebook(as_lists=a, ascii_only=b) for a in (True, False) for b in (True, False)]

PROBLEMS = (
    InputError(f"{ROOT}/a dir/broken.py", 3, 4, "syntax error: bad, 100% \x07wrong"),
    InputError(f"{ROOT}/n.ipynb", 2, 0, "cell is not checked", 4),
)


def written(
    name: str,
    files: Iterable[CheckResult],
    problems: Iterable[InputError] = (),
    context: ReportContext = CONTEXT,
) -> str:
    """What a format makes of files and problems."""
    report = formats.reporter(name, context)
    told = [report.file(each) for each in files] + [report.problem(each) for each in problems]
    return "".join((*told, report.end()))


def everything(name: str) -> str:
    files = [awkward(), revealed(), fine(), *NOTEBOOKS]
    return written(name, files, PROBLEMS)
