"""Mistakes to plant in the linter, one at a time: a judge that is worth something finds each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.differential.planting import Planting
from devicelint.domain import join
from devicelint.domain.devices import CPU
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import HOST, NONE, TRUE, Module, Tensor, Unknown
from devicelint.interpreter.engine.tables import module_method
from devicelint.interpreter.python import assignment
from devicelint.interpreter.python.containers import contents
from devicelint.interpreter.python.iteration import loops
from devicelint.interpreter.torch import indexing, tensors, transfers
from devicelint.interpreter.torch.data import batches
from devicelint.interpreter.torch.devices import functions
from devicelint.interpreter.torch.modules import copies, methods, registration
from devicelint.interpreter.torch.operations import operands, operators
from devicelint.knowledge import library
from devicelint.knowledge.signature import CPU as CPU_GROUP
from devicelint.knowledge.signature import Form, Role, Signature, Slot


@dataclass(frozen=True)
class Mistake:
    """A mistake, and how it is planted.

    Attributes:
        name: what the linter takes to be so, and is not.
        plant: puts it there.
    """

    name: str
    plant: Callable[[Planting], None]


def _row(lookup: Any, name: str, wrong: Callable[[Signature], Signature]) -> Callable[..., None]:
    """A row of knowledge that says something else."""

    def plant(planting: Planting) -> None:
        def looked_up(asked: str) -> Signature | None:
            found: Signature | None = lookup(asked)
            return wrong(found) if found is not None and asked == name else found

        planting.exchange(lookup, looked_up)

    return plant


def _gives_cpu(signature: Signature) -> Signature:
    """What is given is on the CPU, and has dimensions: a number could be mixed."""
    result = replace(signature.result, form=Form.RANKED, group=CPU_GROUP)
    return replace(signature, result=result)


def _mixes(signature: Signature) -> Signature:
    free = tuple(
        replace(one, slot=replace(one.slot, role=Role.FREE)) if one.slot is not None else one
        for one in signature.parameters
    )
    return replace(signature, parameters=free)


def _excuses(signature: Signature) -> Signature:
    """All operands but the first may be numbers on the CPU."""

    def excused(slot: Slot | None) -> Slot | None:
        return None if slot is None else replace(slot, scalar_excused=True)

    excusing = tuple(replace(one, slot=excused(one.slot)) for one in signature.parameters)
    return replace(signature, parameters=excusing)


def _instead(original: Callable[..., Any], mistaken: Callable[..., Any]) -> Callable[..., None]:
    def plant(planting: Planting) -> None:
        planting.exchange(original, mistaken)

    return plant


def _inverted(operand: Any) -> bool | None:
    mixes = _MIXES_AS_SCALAR(operand)
    return None if mixes is None else not mixes


_MIXES_AS_SCALAR = operands.mixes_as_scalar


def _first_path(one: Any, other: Any) -> Any:
    return other if one is None else one


def _cpu_ignored(run: Any, method: str, arguments: Any, site: Any) -> Any:
    return (None, None) if method == "cpu" else _TARGET_OF(run, method, arguments, site)


_TARGET_OF = transfers.target_of


def _move_without_buffers(run: Any, module: Any, device: Any, since: Any) -> None:
    """Buffers stay where they were."""
    parts = list(registration.submodules(run, module)) if isinstance(module, Module) else []
    kept = [
        (part.ref, name, value)
        for part in parts
        for name, value in run.state.fields(part.ref).items()
        if isinstance(value, Tensor) and value.role == "buffer"
    ]
    _MOVE_MODULE(run, module, device, since)
    for ref, name, value in kept:
        run.state.write(ref, name, value)


_MOVE_MODULE = registration.move_module


def _plain_buffer(run: Any, module: Any, arguments: Any, _: Any) -> Any:
    """`register_buffer` keeps a plain tensor."""
    name, given = arguments.get(0, "name"), arguments.get(1, "tensor")
    if name is not None and given is not None:
        run.state.write(module.ref, str(getattr(name.value, "value", "")), given.value)
    return NONE


def _load_moves(planting: Planting) -> None:
    def load(run: Any, module: Any, _: Any, node: Any) -> Any:
        registration.move_module(run, module, CPU, Step(Verb.MOVED, node, CPU))
        return HOST

    planting.put(module_method, "load_state_dict", load)


def _one_iteration(run: Any, loop: Any, bind: Any) -> Any:
    before = run.state.fork()
    loops._iterate(run, loop, bind)
    return before


def _forgotten(*_: Any) -> Any:
    return Unknown("forgotten")


def _never_mind(*_: Any) -> None:
    """Nothing is said of it."""


def _in_place_excused(run: Any, node: Any, symbol: str, target: Any, value: Any) -> Any:
    return operators.operate_on_tensors(run, node, symbol, target, value)


def _data_on_the_cpu(run: Any, value: Any, name: str, node: Any) -> Any:
    made: Any = _OF_TENSOR(run, value, name, node)
    return replace(made, device=CPU) if name == "data" else made


_OF_TENSOR = tensors.of_tensor


def _batch_on_the_cpu(run: Any, item: Any, site: Any, **said: Any) -> Any:
    made = _BATCH(run, item, site, **said)
    return replace(made, device=CPU) if isinstance(made, Tensor) else made


_BATCH = batches.batch_of


MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "zeros_like() makes its tensor on the CPU",
        _row(library.function, "torch.zeros_like", _gives_cpu),
    ),
    Mistake("cat() mixes devices", _row(library.function, "torch.cat", _mixes)),
    Mistake("stack() excuses a 0-dim tensor", _row(library.function, "torch.stack", _excuses)),
    Mistake(
        "cross_entropy() mixes devices",
        _row(library.function, "torch.nn.functional.cross_entropy", _mixes),
    ),
    Mistake(
        "detach() gives a tensor on the CPU", _row(library.tensor_method, "detach", _gives_cpu)
    ),
    Mistake(
        "new_zeros() makes its tensor on the CPU",
        _row(library.tensor_method, "new_zeros", _gives_cpu),
    ),
    Mistake("the rule of 0-dim tensors, inverted", _instead(operands.mixes_as_scalar, _inverted)),
    Mistake("+= excuses a 0-dim target", _instead(operators.operate_in_place, _in_place_excused)),
    Mistake("an index may be anywhere", _instead(indexing._check_index, _never_mind)),
    Mistake("of two paths the first alone counts", _instead(join.join, _first_path)),
    Mistake(".cpu() moves nothing", _instead(transfers.target_of, _cpu_ignored)),
    Mistake(
        "Module.to() leaves buffers behind",
        _instead(registration.move_module, _move_without_buffers),
    ),
    Mistake("a buffer is a plain tensor", _instead(methods._register_buffer, _plain_buffer)),
    Mistake("load_state_dict() moves the model to the CPU", _load_moves),
    Mistake("a loop runs once", _instead(loops._to_a_fixed_point, _one_iteration)),
    Mistake("deepcopy() forgets what it copies", _instead(copies.deepcopy, _forgotten)),
    Mistake("tensor.data lies on the CPU", _instead(tensors.of_tensor, _data_on_the_cpu)),
    Mistake(
        "a loader brings its batches to the CPU", _instead(batches.batch_of, _batch_on_the_cpu)
    ),
    Mistake("list.append() adds nothing", _instead(contents.extend, _never_mind)),
    Mistake(
        "container[key] = value stores nothing", _instead(assignment._set_in_container, _never_mind)
    ),
    Mistake("every machine has an accelerator", _instead(functions.is_available, lambda *_: TRUE)),
)
"""Rows of knowledge, joins, moves, what modules own, loops, containers, and the machine."""
