"""Tensors that are read as numpy arrays: by `.numpy()`, or by a library that works on the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

import libcst as cst

from devicelint.domain.data_events import HostMemoryDemanded, LoaderPins
from devicelint.domain.devices import DeviceOf, is_accelerator, may_be_accelerator
from devicelint.domain.events import HostRead, Operand
from devicelint.domain.history import Site, Verb
from devicelint.domain.values import (
    ARRAY,
    Batch,
    DictOf,
    HostObject,
    ListOf,
    Loader,
    Placed,
    Stream,
    Tensor,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import attributes, elements, methods
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.contents import element_of, known_elements
from devicelint.interpreter.python.paths.device_questions import is_on_the_cpu_here
from devicelint.interpreter.torch.operations.excuses import DEMAND, READ, READ_TO_SEND
from devicelint.interpreter.torch.operations.operands import operand_of
from devicelint.interpreter.torch.operations.verdicts import judged
from devicelint.knowledge import converts_to_numpy, is_read_as_number

_SPARSE = frozenset(
    f"{kind}_{what}()"
    for kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for what in ("array", "matrix")
)
"""The constructors of scipy.sparse, which take shapes beside data."""


def read_arguments(
    run: Run, name: str, arguments: Arguments, site: cst.Call, *, lists_only: bool = False
) -> None:
    """Every argument of a call, or every list among them, is read as an array."""
    library = name.partition(".")[0]
    named = arguments.keywords.items()
    read = [one for keyword, one in named if not is_read_as_number(library, keyword)]
    for argument in (*arguments.positional, *read):
        if lists_only and isinstance(argument.value, (Tensor, Batch, Placed)):
            continue
        read_on_host(run, argument, site, f"{run.code_of(site.func)}()")


def read_on_host(
    run: Run, argument: Argument, site: cst.CSTNode, reader: str, *, is_sent: bool = False
) -> None:
    """A tensor, or each tensor of a list, is read as an array, which only the CPU's can be.

    What is sent to another process is not read, but has to be the CPU's as well.
    """
    value, place = argument.value, argument.site
    if _is_shape(value, reader):
        return
    if isinstance(value, (ListOf, Tuple, DictOf, Stream)):
        _read_elements(run, argument, site, reader, is_sent)
    elif _may_be_elsewhere(value):
        operand = operand_of(value, place)
        assert operand is not None
        if is_on_the_cpu_here(run, operand.device):
            return
        operand, call, frame = _as_given(run, operand)
        if call is not None:
            site, reader = call, f"{run.code_of(call.func)}()"
        grounds = READ_TO_SEND if is_sent else READ
        standing = judged(run, site, reader, (operand,), grounds, frame)
        if standing is not None:
            grad = _requires_grad(value)
            run.announce(
                HostRead(
                    site, operand, reader, grad, is_sent=is_sent, frame=frame, standing=standing
                )
            )


def _is_shape(value: Value, reader: str) -> bool:
    """Whether it is the shape of a sparse matrix: numbers, which are asked of any device."""
    if reader.rpartition(".")[2] not in _SPARSE or not isinstance(value, Tuple):
        return False
    return all(
        one.scalar is True
        if isinstance(one, Tensor)
        else not isinstance(one, (ListOf, Tuple, DictOf, Stream, Batch, Placed))
        for one in value.items
    )


def _as_given(run: Run, operand: Operand) -> tuple[Operand, cst.Call | None, Frame]:
    """What another file's function reads, as the argument that the checked file gave it."""
    frame, call = run.frame, None
    while not frame.is_checked and frame.caller is not None:
        site = None if operand.since is None else frame.passed.get(operand.since)
        if site is None:
            return operand, None, run.frame
        operand, call = replace(operand, site=site), frame.site
        frame = frame.caller
    return operand, call, frame


def _read_elements(
    run: Run, argument: Argument, site: cst.CSTNode, reader: str, is_sent: bool
) -> None:
    """Elements that are written out have places of their own; else the list stands for them."""
    value, place = argument.value, argument.site
    if isinstance(place, (cst.List, cst.Tuple, cst.Dict)) or isinstance(value, DictOf):
        for element, inner in zip(_written_out(place), _held(run, value), strict=False):
            read_on_host(run, Argument(element, inner), site, reader, is_sent=is_sent)
        return
    inner = element_of(run, value, place)
    if not _may_be_elsewhere(inner):
        return
    comprehended = isinstance(place, (cst.ListComp, cst.GeneratorExp))
    if isinstance(place, (cst.ListComp, cst.GeneratorExp)):
        place = place.elt
    operand = operand_of(inner, place)
    assert operand is not None
    standing = judged(run, site, reader, (operand,), READ_TO_SEND if is_sent else READ)
    if standing is not None:
        grad = _requires_grad(inner)
        run.announce(
            HostRead(site, operand, reader, grad, not comprehended, is_sent, standing=standing)
        )


def _may_be_elsewhere(value: Value) -> TypeGuard[Tensor | Batch | Placed]:
    """Whether a tensor may be on an accelerator."""
    if not isinstance(value, (Tensor, Batch, Placed)):
        return False
    if isinstance(value.device, DeviceOf):
        return isinstance(value, Tensor)
    return may_be_accelerator(value.device)


def _written_out(place: object) -> list[cst.BaseExpression]:
    if isinstance(place, (cst.List, cst.Tuple)):
        return [one.value for one in place.elements if isinstance(one, cst.Element)]
    if isinstance(place, cst.Dict):
        return [one.value for one in place.elements if isinstance(one, cst.DictElement)]
    return []


def _held(run: Run, value: Value) -> tuple[Value, ...]:
    if isinstance(value, DictOf):
        fields = run.state.fields(value.ref)
        return tuple(held for name, held in fields.items() if name.startswith("["))
    return known_elements(run, value) or ()


def _requires_grad(value: Tensor | Batch | Placed) -> bool | None:
    """Whether it requires grad; what a loader yields does not."""
    if isinstance(value, Tensor):
        return value.grad
    return False if isinstance(value, Batch) else None


@methods(HostObject)
def method_of_host_object(run: Run, receiver: HostObject, name: str, node: cst.Call) -> Value:
    """`estimator.fit(x)`, `axes.plot(x)`: what the class keeps as it is, its methods keep too."""
    arguments = arguments_of(run, node)
    if _reads(receiver, name):
        read_arguments(run, receiver.name, arguments, node)
    if name in _GIVE_AXES:
        return AXES
    return receiver if name in _GIVE_THEMSELVES else ARRAY


@attributes(HostObject)
def of_host_object(run: Run, value: HostObject, name: str, node: cst.Attribute) -> Value:
    return value if name in ("flat", "T") else ARRAY


def _reads(receiver: HostObject, method: str) -> bool:
    is_kept = receiver.name != AXES.name and not converts_to_numpy(receiver.name)
    return not is_kept and converts_to_numpy(f"{receiver.name}.{method}")


AXES = HostObject("matplotlib.pyplot")
"""The axes of a figure, whose methods are those of pyplot."""
FIGURE = HostObject("matplotlib.figure.Figure")
_GIVE_AXES = frozenset({"add_subplot", "add_axes", "gca", "twinx", "twiny"})
_GIVE_THEMSELVES = frozenset({"fit", "partial_fit", "set_params", "flatten", "ravel"})


@elements(HostObject)
def _element_of_host_object(run: Run, value: HostObject, site: Site) -> Value:
    return value


def demand_on_host(run: Run, operands: Sequence[Operand], operation: str, site: cst.Call) -> None:
    """Tensors that have to be on the CPU, on every machine that this is reached on."""
    if operation == "pin_memory":
        run.depends_on_machine |= not run.expects("RuntimeError")
        if not run.world.accelerators and _is_chosen_here(run):
            return
    for operand in operands:
        _note_for_the_cpu(run, operand)
        standing = judged(run, site, operation, (operand,), DEMAND)
        if standing is not None:
            run.announce(HostMemoryDemanded(site, operation, operand, standing))


def _note_for_the_cpu(run: Run, operand: Operand) -> None:
    """What a caller gives, and no step of the code has moved, has to be there as it comes."""
    since = operand.since
    if since is not None and since.verb is Verb.RECEIVED and isinstance(since.site, cst.Param):
        run.program.conduct.for_the_cpu.add(since.site)


def _is_chosen_here(run: Run) -> bool:
    """Whether a condition about devices surrounds this, or any condition of this function."""
    return bool(run.device_choices) or run.assumptions > run.frame.entered_under


def note_pins(run: Run, loader: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A loader that pins fails at the first batch that is not on the CPU."""
    given = arguments.keywords.get("pin_memory")
    if given is None or not isinstance(loader, Loader) or not loader.pinned:
        return loader
    for tensor in _tensors_in(run, loader.item):
        if is_accelerator(tensor.device):
            item = Operand(given.site, tensor, tensor.device, tensor.since)
            run.announce(LoaderPins(site, given.site, item))
            break
    return loader


def _tensors_in(run: Run, value: Value) -> Iterator[Tensor | Batch]:
    """The tensors of a batch."""
    match value:
        case Tensor() | Batch():
            yield value
        case Tuple(items):
            for one in items:
                yield from _tensors_in(run, one)
        case DictOf(ref):
            for one in run.state.fields(ref).values():
                yield from _tensors_in(run, one)
        case _:
            pass
