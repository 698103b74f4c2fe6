"""What a call gives, as the file sees it from which it is made."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import Opaque, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import DeviceHandle, Function, Module, OneOf, Placed, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.call_keys import place_of


def seen_by_caller(
    run: Run,
    function: Function,
    arguments: Arguments,
    result: Value,
    site: cst.BaseExpression | None,
) -> Value:
    """What a call gives, as the checked file sees it."""
    if function.home == run.program.home or site is None or not run.frame.is_checked:
        return result
    chosen = _chosen_elsewhere(run, result, site)
    if function.home not in run.program.also_reported:
        run.steps.called_elsewhere(arguments, site)
    return chosen


def _chosen_elsewhere(run: Run, result: Value, site: cst.BaseExpression) -> Value:
    """A device that another file chooses, nobody knows how, is one device all the same.

    A module that another file builds is built by the call of that, so far as this one goes.
    """
    if isinstance(result, DeviceHandle) and isinstance(result.device, Unsure):
        return replace(result, device=Opaque(run.code_of(site)))
    for module in result.options if isinstance(result, OneOf) else (result,):
        _built_by(run, module, site)
    return result


def _built_by(run: Run, module: Value, site: cst.BaseExpression) -> None:
    """A module that a function of another file has built was built by the call, seen from here."""
    place = place_of(run, module)
    if not isinstance(module, Module) or not isinstance(place, Placed):
        return
    made = run.made_in.get(place.since.site)
    is_of_another = made is None or made[0].home != run.frame.home
    if place.since.verb is Verb.BUILT and is_of_another:
        run.note_made(site)
        since = Step(Verb.BUILT, site, place.device)
        run.state.write(module.ref, DEVICE_FIELD, replace(place, since=since))
