"""Batches of a kind that nobody knows, on their way into a module that was moved."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.data_events import UnknownInput
from devicelint.domain.devices import may_be_accelerator
from devicelint.domain.events import Operand
from devicelint.domain.history import Verb
from devicelint.domain.values import Unknown
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.nodes import names_bound_by
from devicelint.interpreter.engine.run import Run


@analysis
class UnknownInputs(Analysis):
    """Looks for what a loop over something unknown gives to a module that was moved."""

    serves = frozenset({UnknownInput})

    def on_module_called(self, own: Operand, arguments: Arguments) -> None:
        """Announce each argument that a loop over something unknown gives to a module."""
        run = self.run
        moved = own.since is not None and own.since.verb is Verb.MOVED
        if not (moved and run.frame.is_checked and may_be_accelerator(own.device)):
            return
        for argument in arguments:
            source = _source(run, argument.site) if isinstance(argument.value, Unknown) else None
            if source is not None:
                run.announce(UnknownInput(argument.site, own, source))


def _source(run: Run, site: object) -> cst.BaseExpression | None:
    """What a name stands for one part of at a time: `loader` in `for x in loader`."""
    while isinstance(site, (cst.Attribute, cst.Subscript)):
        site = site.value
    if not isinstance(site, cst.Name):
        return None
    binding = run.frame.bindings.get(site.value)
    if isinstance(binding, cst.For):
        return binding.iter if site.value in names_bound_by(binding.target) else None
    value = binding.value if isinstance(binding, cst.Assign) else None
    is_next = isinstance(value, cst.Call) and run.code_of(value.func) == "next"
    return value.args[0].value if is_next and isinstance(value, cst.Call) and value.args else None
