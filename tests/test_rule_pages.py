"""Each rule has a page, and the page claims enough to be its specification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import devicelint.rules
from devicelint.rules import Rule, all_rules
from tests.mdtest.expectations import Expectation, annotated
from tests.mdtest.page import Example, Section, sections

REVEALED = "DEV000"
FOLDER = Path(devicelint.rules.__file__).parent
TITLES = ("What it finds", "Why", "Example", "Fix", "What it does not report")
LEAST_CLAIMS = 12
LEAST_FINDINGS = 6

rules = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)


def page_of(rule: type[Rule]) -> Path:
    return FOLDER / f"{rule.name.replace('-', '_')}.md"


def sections_of(rule: type[Rule], title: str | None = None) -> tuple[Section, ...]:
    """The sections of the rule's page, or those under one of its headings."""
    found = sections(page_of(rule).read_text(encoding="utf-8"))
    return tuple(one for one in found if title is None or title in one.headings[1:2])


def examples(found: Sequence[Section]) -> Iterator[Example]:
    for section in found:
        yield from section.examples


def announced(example: Example) -> list[Expectation]:
    expectations = annotated(example.code.content).expectations
    return [expectation for expectation in expectations if not expectation.todo]


def findings(rule: type[Rule], example: Example) -> int:
    """How often the example announces the rule; what `reveal_device` says is never named."""
    names = (rule.code, rule.name)
    return sum(
        rule.code == REVEALED if one.kind == "revealed" else one.rule in names
        for one in announced(example)
    )


def innocent(rule: type[Rule], example: Example) -> bool:
    return not findings(rule, example)


def claims(rule: type[Rule], example: Example) -> int:
    generated = len(example.diffs) + len(example.reports)
    return len(announced(example)) + generated + innocent(rule, example)


@rules
def test_the_page_is_titled_by_the_rule(rule):
    first_line, _, _ = page_of(rule).read_text(encoding="utf-8").partition("\n")
    assert first_line == f"# {rule.name} ({rule.code})"


@rules
def test_the_page_has_every_section(rule):
    titles = {section.headings[1] for section in sections_of(rule) if len(section.headings) > 1}
    assert [title for title in TITLES if title not in titles] == []


@rules
def test_the_page_claims_enough(rule):
    found = tuple(examples(sections_of(rule)))
    assert sum(claims(rule, example) for example in found) >= LEAST_CLAIMS
    assert sum(findings(rule, example) for example in found) >= LEAST_FINDINGS


@rules
def test_each_innocent_block_has_a_twin_that_is_reported(rule):
    found = tuple(examples(sections_of(rule, "What it does not report")))
    assert found, "shows nothing that the rule does not report"
    least = max(1, sum(innocent(rule, example) for example in found))
    assert sum(findings(rule, example) for example in found) >= least


def test_no_page_is_without_its_rule():
    assert set(FOLDER.glob("*.md")) <= {page_of(rule) for rule in all_rules()}
