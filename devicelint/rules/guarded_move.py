"""Moves that are made only where the program's own condition holds, instead of to one device."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.events import AcceleratorDemanded
from devicelint.domain.guard_events import ChosenType, Condition, Guard, GuardedMoves
from devicelint.domain.history import Site
from devicelint.finding import Severity
from devicelint.fixes import (
    Change,
    DefineBeside,
    DefineDevice,
    InsertAfter,
    InsertStatement,
    KeepBranch,
    MoveTo,
    RemoveStatement,
    Replace,
    Rewrite,
    Unwrap,
)
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule

_PLACES = ("", "here", "here and in one other place", "here and in other places")
"""Where guards stand, by their number."""


class GuardedMove(Rule):
    """`if use_cuda: net.cuda()` instead of `net.to(device)`."""

    code = "DEV703"
    name = "guarded-move"
    severity = Severity.NOTE
    summary = "Moves are wrapped in a condition where one `device` variable would do"
    default = False
    adopts = True

    def __init__(self) -> None:
        self._demanded = False
        """Whether something goes to an accelerator unguarded, and needs a device as well."""
        self._promised: dict[tuple[Site, str | None], str] = {}
        """The conditions that names for devices are wanted for, by scope and name."""

    def on_accelerator_demanded(self, event: AcceleratorDemanded, _context: RuleContext) -> Reports:
        """What fixes that defines a device at the top of the file."""
        self._demanded = self._demanded or not event.is_idle
        yield from ()

    def on_guarded_moves(self, event: GuardedMoves, context: RuleContext) -> Reports:
        """All guards that ask the same are folded at once, so that nothing is left of the flag."""
        condition = event.condition
        wanted = self._promised.setdefault((event.scope, event.name), condition.code)
        if event.held is None and not event.at_top and wanted != condition.code:
            return
        tests = [*map(_test, event.guards), *map(_test, event.types)]
        device = event.held or event.name
        named = device or "device"
        yield Report(
            tests[0],
            f"{clashes.quoted(context, tests[0])} only guards moves {_PLACES[len(tests[:3])]}: "
            f"choose one `{named}` with it, and move with `.to({named})` everywhere",
            tuple((test, "the same condition") for test in tests[1:]),
            fix=None if device is None else self._folded(event, condition, device, context),
            subject=(event.site, condition.code),
            anywhere=True,
        )

    def _folded(
        self, event: GuardedMoves, condition: Condition, device: str, context: RuleContext
    ) -> Rewrite | None:
        defined = tuple(self._defined(event, condition, device, context))
        folded = (change for guard in event.guards for change in _changes(guard, device))
        typed = (change for one in event.types for change in _retyped(one, device, context))
        gone = {one.statement for one in event.types}
        removed = (RemoveStatement(one) for one in gone if isinstance(one, cst.CSTNode))
        changes = (*defined, *folded, *typed, *removed)
        return Rewrite(f"Use one `{device}`, chosen with the condition", changes, begins=True)

    def _defined(
        self, event: GuardedMoves, condition: Condition, device: str, context: RuleContext
    ) -> Iterator[Change]:
        settled = condition.known_after
        at_top = event.at_top or (condition.asks_machine and self._demanded)
        if event.held is not None or at_top:
            if event.held is None:
                yield DefineDevice(device, event.device)
            if condition.spelled_out and isinstance(settled, cst.CSTNode):
                yield RemoveStatement(settled)
            return
        chosen = f'"{event.device}" if {condition.spelled_out or condition.code} else "cpu"'
        torch = context.names.torch_name()
        content = f"{device} = {chosen if torch is None else f'{torch}.device({chosen})'}"
        if isinstance(settled, cst.CSTNode):
            yield DefineBeside(settled, content, bool(condition.spelled_out))
        elif isinstance(condition.known_from, cst.CSTNode):
            yield InsertStatement(condition.known_from, content)


def _test(guard: Guard | ChosenType) -> cst.BaseExpression:
    assert isinstance(guard.site, (cst.If, cst.IfExp))
    return guard.site.test


def _changes(guard: Guard, device: str) -> Iterator[Change]:
    if isinstance(guard.site, cst.IfExp):
        assert isinstance(guard.kept, cst.BaseExpression)
        yield KeepBranch(guard.site, guard.kept)
    else:
        assert isinstance(guard.site, cst.If)
        assert isinstance(guard.kept, (cst.BaseSuite, cst.Else))
        taken = tuple(one for one in guard.taken if isinstance(one, cst.CSTNode))
        repeated = guard.repeated if isinstance(guard.repeated, cst.CSTNode) else None
        yield Unwrap(guard.site, guard.kept, taken, repeated)
    for move in guard.moves:
        assert isinstance(move, cst.Call)
        yield MoveTo(move, device)


def _retyped(chosen: ChosenType, device: str, context: RuleContext) -> Iterator[Change]:
    """`Tensor(2)` → `torch.FloatTensor(2).to(device)`, `x.type(Tensor)` → `x.to(…)`."""
    torch = context.names.torch_name() or "torch"
    for call in chosen.made:
        assert isinstance(call, cst.Call)
        yield Replace(call.func, chosen.on_cpu)
        yield InsertAfter(call, f".to({device})")
    for call in chosen.converted:
        assert isinstance(call, cst.Call)
        assert isinstance(call.func, cst.Attribute)
        yield Replace(call.func.attr, "to")
        yield Replace(call.args[0].value, f"{device}, {torch}.{chosen.dtype}")
