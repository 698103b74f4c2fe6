"""A collective of NCCL is given a tensor on the CPU."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from devicelint.domain.devices import CPU, Known, is_accelerator
from devicelint.domain.history import Site, Verb
from devicelint.domain.parallel_events import CollectiveCalled, GroupJoined
from devicelint.domain.worlds import World
from devicelint.finding import Safety, Severity
from devicelint.fixes import AddKeyword, Change, DefineDevice, InsertAfter, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _move_fixes as moving
from devicelint.rules._base import Report, Reports, Rule, line_of


class _Waiting(NamedTuple):
    """A tensor on the CPU that a collective is given, until it is known what reaches it."""

    event: CollectiveCalled
    site: Site
    """What is wrong: the argument, or what another function made for it."""
    quoted: str
    fix: Rewrite | None


class CollectiveOnCpu(Rule):
    """An NCCL collective gets a tensor on the CPU."""

    code = "DEV802"
    name = "collective-on-cpu"
    severity = Severity.ERROR
    summary = "An NCCL collective gets a tensor on the CPU"
    unfixed = "no variable there holds the device of the process"

    def __init__(self) -> None:
        self._groups: dict[Site, GroupJoined] = {}
        self._waiting: list[_Waiting] = []
        self._world: World | None = None
        self._elsewhere: set[Site] = set()
        self._beside: Site = None

    def on_group_joined(self, event: GroupJoined, context: RuleContext) -> Reports:
        """The backend decides; a collective may have been met before it was known."""
        if self._is_spared(context.world):
            return
        self._groups[event.site] = event
        if self._reaches_accelerators_alone():
            yield from map(self._report, self._waiting)

    def on_collective_called(self, event: CollectiveCalled, context: RuleContext) -> Reports:
        """A tensor on the CPU, where the backend is NCCL or others are on accelerators."""
        if is_accelerator(event.operand.device):
            self._elsewhere.add(event.operand.site)
            yield from self._others_are_elsewhere(event)
        if event.operand.device != CPU or self._is_spared(context.world):
            return
        site = event.operand.site
        if site in self._elsewhere:
            return
        at = _culprit(context, event)
        quoted = clashes.quoted(context, at)
        waiting = _Waiting(event, at, quoted, _create_on_accelerator(context, event))
        self._waiting.append(waiting)
        if self._reaches_accelerators_alone() or (self._beside and not self._groups):
            yield self._report(waiting)

    def _is_spared(self, world: World) -> bool:
        """Whether nothing is said in a world: where a setting is on, its tensors may be elsewhere.

        The world in which all are off is the last to be walked.
        """
        if world != self._world:
            self._world, self._waiting = world, []
        return not world.accelerators or world.has_settings_on

    def _others_are_elsewhere(self, event: CollectiveCalled) -> Reports:
        """Where no group is seen, a collective of accelerator tensors speaks for the others."""
        first, self._beside = self._beside is None, event.operand.site
        if first and not self._groups:
            yield from map(self._report, self._waiting)

    def _reaches_accelerators_alone(self) -> bool:
        return {group.backend for group in self._groups.values()} == {"nccl"}

    def _report(self, waiting: _Waiting) -> Report:
        event = waiting.event
        operand, group = event.operand, next(iter(self._groups.values()), None)
        place: Site = self._beside
        where, explanation, severity = "", "a tensor on an accelerator here", Severity.WARNING
        if group is not None:
            place, explanation = group.site, "the group is joined here"
            where = f", the default of `{group.option}`," if group.option else ""
            severity = Severity.WARNING if group.option else Severity.ERROR
        reason = f"NCCL{where} only supports accelerators"
        if group is None:
            reason = "other tensors here are on accelerators, as NCCL requires"
        handed_over = waiting.site is not operand.site
        since = "" if handed_over else clashes.since(operand, 0)
        where_given = f" (line {line_of(0)})" if handed_over else ""
        related = ((operand.site, "passed here"),) if handed_over else clashes.history(operand)
        return Report(
            waiting.site,
            f"{waiting.quoted} is on the CPU{since}, but {event.operation}(){where_given} cannot "
            f"use it there: {reason}",
            (*related, (place, explanation)),
            severity,
            fix=waiting.fix,
        )


def _culprit(context: RuleContext, event: CollectiveCalled) -> Site:
    """What a function was handed is for those to mend who made it."""
    operand = event.operand
    step = operand.since
    if step is None or step.verb not in (Verb.CREATED, Verb.CONVERTED):
        return operand.site
    is_made_elsewhere = not context.sees_where_made(step.site, operand.device)
    known = context.where_made(step.site) is not None
    return step.site if known and is_made_elsewhere else operand.site


def _create_on_accelerator(context: RuleContext, event: CollectiveCalled) -> Rewrite | None:
    """The tensor is written to in place, so that it has to be made where it is needed."""
    step = event.operand.since
    if step is None or not isinstance(step.site, cst.Call):
        return None
    if step.verb not in (Verb.CREATED, Verb.CONVERTED):
        return None
    made = context.where_made(step.site) or context
    name = made.moves.spelling(_CUDA)
    changes: list[Change] = []
    if name is None and context.intent.demands_on_purpose():
        name = f'"{_CUDA}"'
    elif name is None:
        name = context.names.free_name(("device", "torch_device"), step.site, step.site) or "device"
        changes.append(DefineDevice(name, str(_CUDA)))
    if step.verb is Verb.CREATED and moving.takes_device(step.site):
        changes.append(AddKeyword(step.site, "device", name))
    else:
        changes.append(InsertAfter(step.site, f".to({name})"))
    message = "Create it on the accelerator; all code that reads it then finds it there"
    return Rewrite(message, tuple(changes), Safety.UNSAFE)


_CUDA = Known("cuda")
