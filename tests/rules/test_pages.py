"""Each rule has a page, and the page claims enough to be its specification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import devicelint.rules
from devicelint.rules import Rule, all_rules
from tests.mdtest.execution import raising_in
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


RUN_TIME_RULES = {
    "created-on-cpu": (24, 7),
    "discarded-move": (8, 5),
    "eager-optimizer-before-move": (8, 3),
    "accelerator-required": (11, 2),
    "hard-coded-accelerator": (17, 10),
    "host-library-on-device": (12, 5),
    "generator-elsewhere": (10, 4),
    "invalid-device-string": (10, 4),
    "legacy-cuda-type": (8, 2),
    "lengths-not-on-cpu": (9, 3),
    "load-without-map-location": (17, 6),
    "mixed-devices": (20, 7),
    "module-input-elsewhere": (23, 7),
    "moved-parameter": (12, 5),
    "numpy-on-device": (14, 6),
    "optimizer-moved": (15, 4),
    "optimizer-state-before-move": (11, 5),
    "pinned-wrongly": (11, 4),
    "unguarded-accelerator-api": (4, 3),
    "unregistered-module": (12, 5),
    "unregistered-tensor": (12, 5),
}
"""For each rule whose finding fails at run time: the least number of blocks in which torch raises
what it announces, and of innocent blocks that run."""


def in_use(example: Example) -> list[Expectation]:
    """What is announced in an executed block, and in what uses it."""
    used = annotated(example.then.content).expectations if example.then else ()
    return [*announced(example), *used]


@pytest.mark.parametrize("name", RUN_TIME_RULES)
def test_a_rule_about_what_fails_at_run_time_is_executed(name: str) -> None:
    rule = next(rule for rule in all_rules() if rule.name == name)
    executed = [(one, one.run) for one in examples(sections_of(rule)) if one.run is not None]
    objected = sum(bool(raising_in(in_use(one), how)) for one, how in executed)
    innocents = sum(not in_use(one) for one, _ in executed)
    least_objected, least_innocent = RUN_TIME_RULES[name]
    assert objected >= least_objected
    assert innocents >= least_innocent


@pytest.mark.parametrize("name", RUN_TIME_RULES)
def test_most_blocks_of_such_a_rule_are_executed(name: str) -> None:
    rule = next(rule for rule in all_rules() if rule.name == name)
    found = tuple(examples(sections_of(rule)))
    assert sum(one.run is not None for one in found) * 2 > len(found)
