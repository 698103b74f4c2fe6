"""Rules hear events by the names of their methods: a name that no event has is a mistake."""

from __future__ import annotations

import typing

import pytest

from devicelint.domain.events import Event
from devicelint.rules import all_rules
from devicelint.rules._base import Rule
from devicelint.rules._listening import event_of, methods_of


def _heard() -> list[tuple[type[Rule], str]]:
    return [(rule, method) for rule in all_rules() for method in methods_of(rule)]


@pytest.mark.parametrize(("rule", "method"), _heard(), ids=lambda one: getattr(one, "name", one))
def test_a_method_is_called_after_the_event_that_it_takes(rule: type[Rule], method: str) -> None:
    taken = typing.get_type_hints(getattr(rule, method))["event"]
    assert issubclass(taken, Event)
    assert event_of(method) == taken.__name__


FOUND_BY_THE_ENGINE = {"DEV901"}
"""What is no mistake of the program, so that no event tells of it."""


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_a_rule_hears_something(rule: type[Rule]) -> None:
    assert bool(methods_of(rule)) is (rule.code not in FOUND_BY_THE_ENGINE)


@pytest.mark.parametrize(
    "rule", [rule for rule in all_rules() if rule.default], ids=lambda r: r.name
)
def test_a_rule_that_is_on_says_why_a_finding_may_have_no_fix(rule: type[Rule]) -> None:
    has_all = {"revealed-device", "unused-suppression"}
    assert bool(rule.unfixed) == (rule.name not in has_all)
