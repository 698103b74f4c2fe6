"""Whatever the program: checking it neither crashes nor wavers, and fixing it once is enough."""

from __future__ import annotations

import ast
import re

from hypothesis import given, note

from devicelint.config import Config
from devicelint.linter.lint import check, fix
from devicelint.text.source import SourceFile
from tests.torch_programs import programs

ALL_FIXES = Config(unsafe_fixes=True)


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def line_ends(text: str) -> set[str]:
    return set(re.findall(r"\r\n|\r|\n", text))


@given(programs())
def test_the_grammar_makes_programs(text):
    note(text)
    assert parses(text)


@given(programs())
def test_a_check_is_deterministic(text):
    note(text)
    source = SourceFile.from_text(text, "train.py")
    findings = check(source, Config()).findings
    assert check(source, Config()).findings == findings
    assert list(findings) == sorted(findings, key=lambda finding: finding.span)
    assert all(finding.span.end <= len(text) for finding in findings)


@given(programs())
def test_fixing_twice_is_fixing_once(text):
    note(text)
    source = SourceFile.from_text(text, "train.py")
    fixed = fix(source, ALL_FIXES)
    note(fixed.after.text)
    assert parses(fixed.after.text)
    assert line_ends(fixed.after.text) <= line_ends(text)
    assert fix(fixed.after, ALL_FIXES).after.text == fixed.after.text
    assert check(fixed.after, ALL_FIXES).findings == fixed.remaining


@given(programs())
def test_safe_fixes_leave_unsafe_ones_alone(text):
    note(text)
    fixed = fix(SourceFile.from_text(text, "train.py"), Config())
    assert parses(fixed.after.text)
    applied = [finding.fix.safety.value for finding in fixed.applied if finding.fix]
    assert set(applied) <= {"safe"}
