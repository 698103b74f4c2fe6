"""What a loop shows of a loader that is not seen.

Whatever a loop moves to an accelerator came on the CPU, and so did what comes with it.  A loop over
the same kind of loader that moves nothing gets its batches from there, too.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, Device, Known, Unsure, may_be_accelerator
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    Batch,
    DictOf,
    Flag,
    Placed,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.guesses import Guess, guess
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.split import Split
from devicelint.interpreter.facts.device_settings import asks_for_device
from devicelint.interpreter.facts.loop_shapes import (
    LoopShape,
    Move,
    TargetGroup,
    is_moved_first,
    move_at,
    shape_of,
)
from devicelint.interpreter.facts.loop_twins import calls_with, mirrored, moved_elsewhere
from devicelint.interpreter.facts.mentions import called_method
from devicelint.interpreter.facts.qualified_names import written
from devicelint.interpreter.python.conditions import condition_at, truth_of
from devicelint.interpreter.torch.devices.arguments import device_named
from devicelint.interpreter.torch.operations.reports import report_input

_OF_MAPPINGS = frozenset({"items", "values"})
"""Methods of mappings: what these hold, no loader makes."""


@guess
class LoaderDevices(Guess):
    """Batches come on the CPU where this loop, or another one over such batches, moves them."""

    name = "loader devices"

    def element(self, run: Run, loop: cst.For, value: Value) -> Value | None:
        """What a loop's target is given, with what the code shows of its unknown parts."""
        if not run.world.accelerators or not _has_unknown(run, value):
            return None
        if called_method(loop.iter) in _OF_MAPPINGS:
            return None
        shape = shape_of(run.module, loop)
        return None if shape is None else _guessed_of(run, shape, loop.target, value)

    def called(self, run: Run, callee: Value, arguments: Arguments, site: cst.Call) -> Value | None:
        """Something unknown is called: a module, by what it is given in another loop."""
        if not isinstance(callee, (Unknown, Symbolic)):
            return None
        _check_again(run, arguments, site)
        return _answer_of_unseen(run, arguments, site)


def _has_unknown(run: Run, element: Value) -> bool:
    if isinstance(element, Tuple):
        return any(_has_unknown(run, item) for item in element.items)
    if isinstance(element, DictOf):
        return any(_has_unknown(run, item) for item in run.state.fields(element.ref).values())
    if isinstance(element, (Tensor, Batch)):
        return isinstance(element.device, Unsure)
    return isinstance(element, (Unknown, Symbolic))


def _guessed_of(run: Run, shape: LoopShape, target: cst.BaseExpression, element: Value) -> Value:
    group = shape.groups.get(target)
    whole = None
    if group is not None and _has_unknown(run, element):
        whole = _of_group(run, shape, group)
    if isinstance(element, Tuple) and isinstance(target, (cst.Tuple, cst.List)):
        if len(element.items) != len(target.elements):
            return element
        pairs = zip(target.elements, element.items, strict=True)
        element = Tuple(tuple(_guessed_of(run, shape, one.value, item) for one, item in pairs))
    return element if whole is None else _filled(run, target, element, whole)


def _filled(run: Run, site: cst.CSTNode, element: Value, part: Value) -> Value:
    """What a loader yields, with what is guessed in place of all that is unknown of it."""
    match element:
        case Unknown() | Symbolic():
            return part
        case Tensor() | Batch() if isinstance(element.device, Unsure) and isinstance(part, Batch):
            return replace(element, device=part.device, since=part.since)
        case Tuple(items):
            parts = part.items if isinstance(part, Tuple) else (part,) * len(items)
            if len(parts) != len(items):
                return element
            pairs = zip(items, parts, strict=True)
            return Tuple(tuple(_filled(run, site, item, one) for item, one in pairs))
        case DictOf(ref) if isinstance(part, Batch):
            held = tuple(run.state.fields(ref).items())
            copy = run.allocate(site, f"guessed {ref}")
            for name, item in held:
                run.state.write(copy, name, _filled(run, site, item, part))
            return DictOf(copy, element.site)
        case _:
            return element


def _of_group(run: Run, shape: LoopShape, group: TargetGroup) -> Value | None:
    """What comes out of one unseen loader, whole or unpacked into names."""
    beside = next((move for move in group.moves.values() if _happens(run, move)), None)
    if group.moves and beside is None:
        return None
    again = {
        position: move
        for position, move in mirrored(run.module, shape, group).items()
        if position not in group.moves and _happens(run, move)
    }
    if beside is None and not again:
        return None
    parts = tuple(
        _part(name, beside, again.get(at), is_moved=is_moved_first(group, at))
        for at, name in enumerate(group.names)
    )
    return Tuple(parts) if group.is_unpacked else parts[0]


def _part(
    name: cst.Name | None, beside: Move | None, again: Move | None, *, is_moved: bool
) -> Value:
    """What a name is given; of what is moved first of all, nobody has to know where it was."""
    move = again or beside
    if name is None or move is None:
        return Unknown("what a loader that is not seen yields")
    verb = Verb.BESIDE if again is None else Verb.AGAIN
    device: Device = Unsure("it is moved, wherever it comes from") if is_moved else CPU
    return Batch(device, Step(verb, name, device, believed=True, evidence=move.call))


def _happens(run: Run, move: Move) -> bool:
    """Whether a move is made in this world, for all that its conditions say."""
    for test, taken in move.conditions:
        with run.muted():
            condition = condition_at(run, test)
        holds = truth_of(run, condition)
        if holds is None and not asks_for_device(run, test):
            if isinstance(condition, Flag) and run.splits:
                raise Split(condition.key)
            return False
        if holds is not None and holds is not taken:
            return False
    return True


_OF_MODULES = frozenset({"state_dict", "load_state_dict", "zero_grad"})
_OF_MODULES_ALONE = frozenset({"train", "eval", "parameters", "named_parameters"})
"""Those that are called with nothing, or with a mode: `net.train(False)`, and not `train(data)`."""


@functools.lru_cache(maxsize=1)
def _modules_in(tree: cst.Module) -> frozenset[str]:
    """The names with which a file does what it does with a Module, and hardly with others."""
    calls = (node for node in descendants(tree) if isinstance(node, cst.Call))
    return frozenset(filter(None, map(_used_as_module, calls)))


def _used_as_module(call: cst.Call) -> str:
    if not isinstance(call.func, cst.Attribute):
        return ""
    method = call.func.attr.value
    alone = method in _OF_MODULES_ALONE and all(map(_is_mode, call.args))
    return written(call.func.value) if alone or method in _OF_MODULES else ""


def _is_mode(argument: cst.Arg) -> bool:
    given = argument.value
    return isinstance(given, cst.Name) and given.value in ("True", "False")


def _answer_of_unseen(run: Run, arguments: Arguments, site: cst.Call) -> Value | None:
    """A Module that is given what was moved answers there, whatever it is."""
    value = arguments.positional[0].value if arguments.positional else None
    if not isinstance(value, (Tensor, Batch, Placed)) or value.since.verb is not Verb.MOVED:
        return None
    if not run.frame.is_checked or run.code_of(site.func) not in _modules_in(run.module):
        return None
    return Batch(value.device, value.since) if may_be_accelerator(value.device) else None


def _check_again(run: Run, arguments: Arguments, site: cst.Call) -> None:
    """Something unknown is called as in the loop that moves what it is given: it is a module."""
    for argument in arguments.positional:
        value = argument.value
        move = _shown_by(run, value)
        if move is None or not isinstance(value, (Batch, Tensor)):
            continue
        device = _destination(run, move) if _is_called_alike(run, site, move) else None
        if device is not None and may_be_accelerator(device):
            since = Step(Verb.MOVED, move.call, device)
            own = Operand(site.func, Placed(device, since), device, since)
            report_input(run, site, own, Operand(argument.site, value, CPU, value.since))
            _go_on_as_moved(run, value, since)
        return


def _shown_by(run: Run, value: Value) -> Move | None:
    """The move of another loop that shows where what a loader gives is taken."""
    if not isinstance(value, (Batch, Tensor)) or value.device != CPU:
        return None
    if value.since.verb is Verb.AGAIN:
        return move_at(run.module, value.since.evidence)
    if value.since.verb is not Verb.LOADED:
        return None
    move = moved_elsewhere(run.module, value.since.site)
    return move if move is not None and _happens(run, move) else None


def _go_on_as_moved(run: Run, batch: Batch | Tensor, since: Step) -> None:
    """What is reported once is where it should be from here on."""
    for name, value in tuple(run.state.fields(run.frame.ref).items()):
        if isinstance(value, (Batch, Tensor)) and value.since == batch.since:
            run.state.write(run.frame.ref, name, replace(value, device=since.device, since=since))


def _is_called_alike(run: Run, site: cst.Call, move: Move) -> bool:
    """Whether the loop of a move gives it to the same thing."""
    called = run.code_of(site.func)
    return any(run.code_of(func) == called for func in calls_with(move))


def _destination(run: Run, move: Move) -> Device | None:
    """Where the other loop moves to, as this one would read it."""
    if not move.call.args:
        return Known("cuda")
    with run.muted():
        given = Argument(move.call, run.evaluate(move.call.args[0].value))
        return device_named(run, given)
