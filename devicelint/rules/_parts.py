"""A part of a Module that is made on the CPU, beside one on a device that the Module is given."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import PartMadeElsewhere
from devicelint.domain.history import Verb
from devicelint.finding import Certainty, Severity
from devicelint.fixes import AddKeyword, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _move_fixes as moving
from devicelint.rules._base import Report, line_of


def made_beside(context: RuleContext, event: PartMadeElsewhere) -> Report:
    """What is wrong with the part, unless the Module moves what such a part gives."""
    beside = event.beside
    return Report(
        event.step.site,
        f"{clashes.quoted(context, event.step.site)} is created on the CPU, but another part "
        f"of the module, {clashes.quoted(context, beside.site)}, is on {clashes.place(beside)} "
        f"since line {line_of(0)}: create it there too",
        ((beside.site, f"the other part is {_how(event)}"),),
        Severity.WARNING,
        Certainty.CONTRACT,
        _as_beside(context, event),
        subject=event.step if event.is_module else None,
        unless=event.module,
    )


def _how(event: PartMadeElsewhere) -> str:
    since = event.beside.since
    is_moved = since is not None and since.verb is Verb.MOVED
    return "moved here" if is_moved else "created here by its device argument"


def _as_beside(context: RuleContext, event: PartMadeElsewhere) -> Rewrite | None:
    """Create it with the `device=` of the other part."""
    call, other = event.step.site, event.beside.site
    if not (event.takes_same and isinstance(call, cst.Call) and isinstance(other, cst.Call)):
        return None
    if not moving.takes_device(call):
        return None
    given = [one.value for one in other.args if one.keyword and one.keyword.value == "device"]
    if not given:
        return None
    device = context.code(given[0])
    return Rewrite(f"Create it with `device={device}`", (AddKeyword(call, "device", device),))
