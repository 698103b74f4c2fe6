"""Files that go to an accelerator time and again: these are for one, whatever else they ask.

Where code that provides for other machines goes to CUDA in one place or two, somebody forgot.
Where it does so in many, nobody means it to run without one.  Of such findings in code that nobody
had seen before, 27 of 116 were right in files with up to three of them, and 2 of 159 in others.
What meets the tensors of callers counts among them, where it fails without an accelerator, too.
What such a file loads, it loads where there is one: that goes with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from devicelint.domain.history import Site
from devicelint.finding import FOR_ACCELERATORS, Certainty, Safety
from devicelint.fixes import Change, Replace, Rewrite
from devicelint.linter.locations import RawFinding
from devicelint.rules import Report, Rule

_DEMANDS = frozenset({"DEV401", "DEV402", "DEV403"})
IMPLIED = frozenset({"DEV303"})
"""What is not said where one note says that a file is for accelerators."""
DEMANDING = _DEMANDS | {FOR_ACCELERATORS}
"""The rules that decide that."""
_MANY = 4


def summed_up(findings: Sequence[RawFinding], rules: Sequence[Rule]) -> list[RawFinding]:
    """The findings, with one note in place of many demands for an accelerator.

    What the settings ask for by name is reported place by place.
    """
    rule = next((one for one in rules if one.code == FOR_ACCELERATORS), None)
    if rule is None or rule.asked_for:
        return list(findings)
    demands = [one for one in findings if _is_demand(one)]
    said_again = [one for one in findings if _is_said_again(one)]
    is_noted = any(one.rule is rule for one in findings)
    if not is_noted and not _are_many(demands, said_again):
        return list(findings)
    implied = [one for one in findings if one.rule.code in IMPLIED]
    told = [one for one in demands if not one.rule.asked_for]
    others = [one for one in findings if one not in told and one not in implied]
    if not is_noted and not _are_many(told, said_again):
        return [*told, *others]
    others = [one for one in others if one not in said_again]
    return others if is_noted else [*others, _note(rule, told, implied, _places(said_again))]


def _are_many(demands: Sequence[RawFinding], said_again: Sequence[RawFinding]) -> bool:
    """Whether these are many places, where the code says in one of them that it has a choice."""
    return bool(demands) and len(_places(demands) | _places(said_again)) >= _MANY


def _places(findings: Sequence[RawFinding]) -> set[Site]:
    """Where they fail without an accelerator."""
    sites = ((one.report.site, one) for one in findings)
    return {site for site, one in sites if _is_demand(one) or one.report.fails_without}


def _is_demand(found: RawFinding) -> bool:
    """Whether it fails without an accelerator; what only callers may keep elsewhere is none."""
    is_certain = found.report.certainty is Certainty.CERTAIN
    return is_certain and found.rule.code in _DEMANDS


def _is_said_again(found: RawFinding) -> bool:
    """Whether it says that the file goes to an accelerator, wherever its callers are."""
    is_by_contract = found.report.certainty is Certainty.CONTRACT
    return is_by_contract and found.rule.code in _DEMANDS and not found.rule.asked_for


def _note(
    rule: Rule,
    demands: Sequence[RawFinding],
    implied: Sequence[RawFinding],
    again: Collection[Site],
) -> RawFinding:
    """What is said of the first place, and of the others with it."""
    first = demands[0]
    says, _, _ = first.report.message.partition(": ")
    others = len({*_places(demands[1:]), *again} - {first.report.site})
    message = (
        f"{says}, and so do {others} other places: the code only works with an "
        "accelerator; `devicelint adopt` makes it choose the device at run time"
    )
    report = Report(first.report.site, message, fix=_fix_of_all(demands, implied))
    return RawFinding(rule, report, first.worlds)


def _fix_of_all(demands: Sequence[RawFinding], implied: Sequence[RawFinding]) -> Rewrite | None:
    """The fixes of all places; None where one of them has none."""
    fixes = [one.report.fix for one in (*demands, *implied)]
    given = [one for one in fixes if one is not None]
    if len(given) < len(fixes):
        return None
    is_safe = all(one.safety is Safety.SAFE for one in given)
    changes = _each_place_once(change for one in given for change in one.changes)
    return Rewrite(
        f"Choose the device in all {len(demands)} places",
        changes,
        Safety.SAFE if is_safe else Safety.UNSAFE,
        begins=any(one.begins for one in given),
    )


def _each_place_once(changes: Iterable[Change]) -> tuple[Change, ...]:
    """What is put in the place of an expression, as the first demand that concerns it has it."""
    kept: dict[object, Change] = {}
    for change in changes:
        kept.setdefault(change.site if isinstance(change, Replace) else change, change)
    return tuple(kept.values())
