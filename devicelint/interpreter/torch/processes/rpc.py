"""`torch.distributed.rpc`: what other processes call and hold, and what is sent to them and back.

Everything that is sent is copied, and unless there are device maps, every tensor of it has to be
on the CPU.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    HOST,
    Batch,
    Bound,
    Class,
    DictOf,
    Function,
    Instance,
    ListOf,
    Module,
    OneOf,
    Partial,
    Placed,
    Ref,
    Reference,
    Stream,
    Tensor,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function, methods
from devicelint.interpreter.python.attributes import read_attribute
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.contents import element_of, known_elements
from devicelint.interpreter.python.stdlib.processes import given_as
from devicelint.interpreter.torch.host_reads import read_on_host
from devicelint.interpreter.torch.modules.escapes import let_go

_HOME = ("torch.distributed.rpc", "torch.distributed.rpc.api")
_SYNC, _ASYNC, _REMOTE = "rpc_sync", "rpc_async", "remote"


@function(*(f"{home}.RRef" for home in _HOME))
def refer(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """An RRef to something of this process."""
    given = arguments.get(0, "value")
    return Unknown("an RRef to nothing") if given is None else Reference(given.value)


@function(*(f"{home}.{way}" for home in _HOME for way in (_SYNC, _ASYNC, _REMOTE)))
def call_remotely(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`rpc.rpc_sync(to, function, args, kwargs)` calls the function in another process."""
    function = arguments.get(1, "func")
    if function is None or arguments.open:
        return Unknown("a remote call of something unknown")
    given = given_as(run, arguments.get(2, "args"), arguments.get(3, "kwargs"), site)
    return _called(run, function.value, given, name.rpartition(".")[2], site)


@function("torch.futures.wait_all")
def wait_for_all(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What each of several calls gave."""
    futures = arguments.get(0, "futures")
    one = None if futures is None else element_of(run, futures.value, site)
    return Stream(one.held) if isinstance(one, Reference) else Unknown("the results of futures")


@methods(Reference)
def method_of_reference(run: Run, receiver: Reference, name: str, node: cst.Call) -> Value:
    """What is held, by the ways there are to it; a method of it is called where it is held."""
    arguments = arguments_of(run, node)
    if receiver.way:
        method = read_attribute(run, receiver.held, name, _attribute_of(node))
        return _called(run, method, arguments, receiver.way, node)
    if name in (_SYNC, _ASYNC, _REMOTE):
        return Reference(receiver.held, name)
    if name == "to_here":
        return _sent_back(run, receiver.held, node) if receiver.is_away else receiver.held
    if name in ("local_value", "wait", "value"):
        return receiver.held
    if name in ("owner", "owner_name", "is_owner", "confirmed_by_owner", "done"):
        return HOST
    let_go(run, arguments, node)
    return Unknown(f"the result of .{name}()")


def _attribute_of(node: cst.Call) -> cst.Attribute:
    assert isinstance(node.func, cst.Attribute)
    return node.func


def _called(run: Run, function: Value, given: Arguments, way: str, site: cst.Call) -> Value:
    """Walk what another process does with copies of what it is given."""
    for argument in given:
        _demand_cpu(run, argument, site)
    if not isinstance(function, (Function, Bound, Partial, Module, Class, OneOf)):
        let_go(run, given, site)
        return Unknown("the result of something unknown")
    sent = Arguments(
        [Argument(one.site, copied(run, one.value, site)) for one in given.positional],
        {
            name: Argument(one.site, copied(run, one.value, site))
            for name, one in given.keywords.items()
        },
        given.open,
    )
    ended, default = (run.state.dead, run.state.failed), run.default_device
    result = run.call(function, sent, site)
    (run.state.dead, run.state.failed), run.default_device = ended, default
    if way == _REMOTE:
        return Reference(result, is_away=True)
    arrived = _sent_back(run, result, site)
    return arrived if way == _SYNC else Reference(arrived)


def _sent_back(run: Run, result: Value, site: cst.Call) -> Value:
    if not _goes_by_cpu(run):
        return Unknown("sent back to wherever the other process says")
    for one in known_elements(run, result) or (result,):
        _demand_cpu(run, Argument(site, one), site)
    return copied(run, result, site)


def _demand_cpu(run: Run, argument: Argument, site: cst.Call) -> None:
    """Say where a tensor of an accelerator is sent."""
    if _goes_by_cpu(run):
        read_on_host(run, argument, site, f"{run.code_of(site.func)}()", is_sent=True)


def _goes_by_cpu(run: Run) -> bool:
    """Whether this program sets RPC up, and gives it no device maps."""
    return "init_rpc" in run.module_code and "device_map" not in run.module_code


def copied(run: Run, value: Value, site: cst.Call) -> Value:
    """A copy, with all that it holds; where a tensor of an accelerator arrives is not known."""
    return _copied(run, value, site, {})


def _copied(run: Run, value: Value, site: cst.Call, made: dict[Ref, Value]) -> Value:
    match value:
        case Tensor() | Batch() | Placed():
            return _arrived(value, site)
        case Tuple():
            return Tuple(tuple(_copied(run, one, site, made) for one in value.items))
        case Module() if module_device(run, value).device != CPU:
            return Unknown("a module sent from an accelerator")
        case ListOf() | DictOf() | Instance() | Module():
            return made.get(value.ref) or _copy_of(run, value, site, made)
        case Reference():
            held = value.held
            if isinstance(held, (Tensor, Batch, Placed)) and held.device == CPU:
                held = _arrived(held, site)
            return replace(value, held=held, is_away=False)
        case TensorDict():
            return Unknown("a copy of an object of a library")
        case _:
            return value


def _arrived(value: Tensor | Batch | Placed, site: cst.Call) -> Value:
    if value.device != CPU:
        return Unknown("sent from an accelerator")
    if isinstance(value, Tensor) and value.role:
        return value
    return replace(value, since=Step(Verb.SENT, site, CPU))


def _copy_of(
    run: Run,
    value: ListOf | DictOf | Instance | Module,
    site: cst.Call,
    made: dict[Ref, Value],
) -> Value:
    copy = replace(value, ref=run.allocate(site, f"sent copy of {value.ref}"))
    made[value.ref] = copy
    for name, held in tuple(run.state.fields(value.ref).items()):
        kept = name == DEVICE_FIELD
        run.state.write(copy.ref, name, held if kept else _copied(run, held, site, made))
    return copy
