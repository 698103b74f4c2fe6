"""Random numbers are drawn with the generator of another device."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.data_events import GeneratorElsewhere
from devicelint.domain.devices import CPU, Agreement
from devicelint.domain.events import Operand
from devicelint.domain.values import HOST
from devicelint.finding import Severity
from devicelint.fixes import AddKeyword, RemoveArgument, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class GeneratorForAnother(Rule):
    """A generator only draws numbers on its own type of device."""

    code = "DEV108"
    name = "generator-elsewhere"
    severity = Severity.ERROR
    summary = "Random numbers are drawn on one device with a generator for another"
    unfixed = "no variable there holds the device"

    def on_generator_elsewhere(self, event: GeneratorElsewhere, context: RuleContext) -> Reports:
        """The generator is to be made for the device, or not at all."""
        wanted = Operand(event.site, HOST, event.wanted, event.wanted_since)
        if event.generator is None:
            yield self._of_torch(event, wanted, context)
            return
        generator = Operand(event.given, HOST, event.generator.device, event.generator)
        certain = event.agreement is Agreement.DIFFERENT
        unless = "" if certain else clashes.unless(generator, wanted)
        yield Report(
            event.given,
            f"the generator {clashes.quoted(context, event.given)} is for "
            f"{clashes.place(generator)}{clashes.since(generator, 0)}, but {event.operation}() "
            f"draws on {clashes.place(wanted)}{unless}",
            clashes.history(generator),
            severity=None if certain else Severity.WARNING,
            fix=_made_there(context, event),
            subject=(event.generator.site, event.site),
        )

    def _of_torch(self, event: GeneratorElsewhere, wanted: Operand, context: RuleContext) -> Report:
        torch = context.names.torch_name()
        fix = None
        if torch is not None:
            assert isinstance(event.site, cst.Call)
            device = context.moves.spelling(event.wanted) or f"{torch}.get_default_device()"
            content = f"{torch}.Generator(device={device})"
            fix = Rewrite(f"Pass `{content}`", (AddKeyword(event.site, "generator", content),))
        return Report(
            event.site,
            f"{event.operation}() draws on {clashes.place(wanted)}, the default device, but "
            f"its own generator is for the CPU: pass one for {clashes.place(wanted)}",
            fix=fix,
        )


def _made_there(context: RuleContext, event: GeneratorElsewhere) -> Rewrite | None:
    """`device=` where the generator is made; none for the CPU, which is what it is without."""
    call = None if event.generator is None else event.generator.site
    if not isinstance(call, cst.Call):
        return None
    if event.wanted == CPU:
        if len(call.args) != 1:
            return None
        return Rewrite("Create it for the CPU", (RemoveArgument(call, call.args[0]),))
    made = context.where_made(call)
    spelled = None if made is None else made.moves.spelling(event.wanted)
    if spelled is None or (call.args and call.args[0].keyword is None):
        return None
    change = AddKeyword(call, "device", spelled)
    return Rewrite(f"Create it with `device={spelled}`", (change,))
