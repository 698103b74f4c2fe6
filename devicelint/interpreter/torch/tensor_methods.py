"""Methods of tensors and of what may be one."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    ARRAY,
    HOST,
    NONE,
    Batch,
    Const,
    ImportedName,
    Parameters,
    Placed,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import methods, tensor_method
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.learning import note_learned_with
from devicelint.interpreter.facts.mentions import mentions_in
from devicelint.interpreter.facts.tensor_api import TENSOR_METHODS, is_asked_of_tensors
from devicelint.interpreter.facts.tensor_parameters import as_proven, is_used, note_used, prove
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.contents import new_list
from devicelint.interpreter.python.containers.fields import LENGTH
from devicelint.interpreter.python.containers.subscripts import under_key
from devicelint.interpreter.python.stdlib.argparse import note_option
from devicelint.interpreter.python.unseen import result_of_unseen
from devicelint.interpreter.torch.checkpoints.uses import note_moved
from devicelint.interpreter.torch.devices.written_out import note_model
from devicelint.interpreter.torch.host_reads import read_on_host
from devicelint.interpreter.torch.legacy_types import converted
from devicelint.interpreter.torch.modules.copies import parameter_in
from devicelint.interpreter.torch.operations.operands import operand_of
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.interpreter.torch.tensors import as_tensor
from devicelint.interpreter.torch.transfers import move_placed, move_unknown
from devicelint.knowledge import tensor_method as signature_of

_MODULE_METHODS = frozenset(
    "train eval parameters named_parameters state_dict load_state_dict zero_grad modules children "
    "requires_grad_ apply".split()
)


@methods(Tensor, Batch, Placed)
def method_of_placed(
    run: Run, receiver: Tensor | Batch | Placed, name: str, node: cst.Call
) -> Value:
    assert isinstance(node.func, cst.Attribute)
    arguments = arguments_of(run, node)
    if name in MOVES:
        return move_placed(run, receiver, name, arguments, node)
    if name == "numpy":
        return _numpy(run, receiver, arguments, node)
    if isinstance(receiver, Placed) and name in _OF_EITHER and not arguments.positional:
        return receiver  # A module or a tensor: both have these, and stay what they are.
    if isinstance(receiver, Placed) and name == "forward":
        # What calls a Module's `forward` is as good as a call of the Module, which has its name.
        return run.call(receiver, arguments, cst.Call(node.func.value, node.args))
    if isinstance(receiver, Placed) and name in _MODULE_METHODS:
        return _as_module(run, receiver, name, node.func.value)
    if isinstance(receiver, Batch) and receiver.whole and name in ("items", "values", "keys"):
        return _batch_items(receiver, name)
    return call_tensor_method(run, receiver, name, arguments, node)


_OF_EITHER = frozenset({"float", "half", "double", "bfloat16"})


def call_tensor_method(
    run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    """`tensor.name(…)`: by a handler of its own, else by its signature."""
    handler = tensor_method.get(name, _by_signature)
    return handler(run, receiver, name, arguments, node)


def _by_signature(
    run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    signature = signature_of(name)
    if signature is None:
        given_all = (receiver, *(one.value for one in arguments))
        return result_of_unseen(run, f"tensor.{name} is not known", given_all, node)
    assert isinstance(node.func, cst.Attribute)
    tensor = as_tensor(receiver) if isinstance(receiver, Batch) else receiver
    given = [Argument(node.func.value, tensor), *arguments.positional]
    every = Arguments(given, arguments.keywords, arguments.open)
    return apply_signature(run, signature, every, node, name=name)


@tensor_method(*_OF_EITHER)
def _cast(run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Value:
    """Of a tensor that has the type already, the tensor itself: a Parameter may stay one."""
    result = _by_signature(run, receiver, name, arguments, node)
    is_owned = isinstance(receiver, Tensor) and receiver.role in ("parameter", "buffer")
    return replace(result, role="either") if is_owned and isinstance(result, Tensor) else result


@tensor_method("update")
def _update(run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Value:
    """`batch.update(…)`: a dict of a loader gets other tensors."""
    owner = node.func.value if isinstance(node.func, cst.Attribute) else None
    if isinstance(receiver, Batch) and receiver.whole and isinstance(owner, cst.Name):
        run.bind(owner.value, Unknown("a batch of which items were replaced"), node)
    return NONE


@tensor_method("item", "tolist")
def _read(run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Value:
    assert isinstance(node.func, cst.Attribute)
    run.steps.read(Argument(node.func.value, receiver), node)
    result = _by_signature(run, receiver, name, arguments, node)
    if name == "tolist" and isinstance(receiver, Tensor) and receiver.scalar is False:
        numbers = new_list(run, node, (HOST,))
        run.state.write(numbers.ref, LENGTH, HOST)
        return numbers
    return result


@tensor_method("requires_grad_")
def _leaf(run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Value:
    result = _by_signature(run, receiver, name, arguments, node)
    note_learned_with(run, getattr(receiver, "since", None))
    tensor = as_tensor(receiver) if isinstance(receiver, Batch) else receiver
    if not isinstance(tensor, Tensor):
        return result
    return replace(tensor, grad=True, role=tensor.role or "leaf")


@tensor_method("view", "reshape", "expand", "repeat")
def _view(run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Value:
    return _reshaped(receiver, scalar=_scalar_in_shape(receiver, arguments))


def _reshaped(receiver: Value, *, scalar: bool | None) -> Tensor:
    assert isinstance(receiver, (Tensor, Batch, Placed))
    grad = receiver.grad if isinstance(receiver, Tensor) else None
    return Tensor(receiver.device, receiver.since, scalar, grad)


def _scalar_in_shape(receiver: Value, arguments: Arguments) -> bool | None:
    """A shape has dimensions; `x.view(torch.int32)` names no shape and keeps them."""
    given = arguments.positional[:1]
    if given and isinstance(given[0].value, ImportedName):
        return receiver.scalar if isinstance(receiver, Tensor) else None
    return None if given and given[0].value == Tuple(()) else False


@tensor_method("view_as", "expand_as", "reshape_as")
def _view_as(run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Value:
    """`x.view_as(y)` uses the shape of `y` alone, wherever it is."""
    both = [receiver, *(argument.value for argument in arguments.positional[:1])]
    has_dimensions = any(
        isinstance(one, Batch) or (isinstance(one, Tensor) and one.scalar is False) for one in both
    )
    return _reshaped(receiver, scalar=False if has_dimensions else None)


@tensor_method("type", "type_as")
def _type(run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Value:
    """`.type(T)` changes the dtype, or moves where T is a CUDA type; `.type_as` follows."""
    given = arguments.get(0, "dtype" if name == "type" else "other")
    if given is None:
        return HOST
    if name == "type_as":
        other = operand_of(given.value, given.site)
        if other is None or not isinstance(receiver, (Tensor, Batch)):
            return Unknown("type_as of something unknown")
        tensor = as_tensor(receiver) if isinstance(receiver, Batch) else receiver
        return replace(tensor, device=other.device, since=other.since or tensor.since)
    moved = converted(run, receiver, arguments, node)
    if moved is not None:
        return moved
    named = given.value.name if isinstance(given.value, ImportedName) else ""
    is_dtype = named.startswith("torch.") and not named.endswith("Tensor")
    stays = is_dtype and isinstance(receiver, (Tensor, Batch))
    return receiver if stays else Unknown("a type that is computed")


def _numpy(
    run: Run, receiver: Tensor | Batch | Placed, arguments: Arguments, node: cst.Call
) -> Value:
    forced = arguments.get(0, "force")
    if forced is None or forced.value == Const(False):
        assert isinstance(node.func, cst.Attribute)
        read_on_host(run, Argument(node.func.value, receiver), node, ".numpy()")
    return ARRAY


def _as_module(run: Run, receiver: Placed, name: str, site: cst.BaseExpression) -> Value:
    note_moved(run, receiver.since.site)
    note_model(run, receiver.since.site)
    if name in ("train", "eval", "requires_grad_", "apply"):
        return receiver
    if name == "parameters":
        return Parameters(receiver, site)
    if name == "state_dict":
        return Batch(receiver.device, receiver.since)
    return Unknown(f".{name}() of something moved")


def _batch_items(receiver: Batch, name: str) -> Value:
    inner = replace(receiver, whole=False)
    if name == "keys":
        return HOST
    return Stream(inner if name == "values" else Tuple((HOST, inner)))


@methods(Symbolic)
def method_of_parameter(run: Run, receiver: Symbolic, name: str, node: cst.Call) -> Value:
    """A method of something from outside: it may be a tensor, a module, or anything."""
    if is_asked_of_tensors(name, is_called=True):
        note_used(run, receiver.origin)
    if name in MOVES:
        return move_unknown(run, receiver, name, node)
    written = run.state.read(receiver.origin, name)
    arguments = arguments_of(run, node)
    if written is not None:
        return run.call(written, arguments, node)
    if name == "parameters":
        assert isinstance(node.func, cst.Attribute)
        return Parameters(receiver, node.func.value)
    if name in ("named_parameters", "named_buffers", "buffers"):
        return _named_of_outside(run, receiver, name)
    if name == "add_argument":
        run.steps.option(arguments)
        note_option(run, arguments)
    if name == "parse_args":
        return Symbolic("args")
    if name in _KEEPS_PLACE:
        if name == "requires_grad_" and is_used(run, receiver.origin):
            note_learned_with(run, receiver.since)
        return receiver
    return _method_of_possible_tensor(run, receiver, name, arguments, node)


def _method_of_possible_tensor(
    run: Run, receiver: Symbolic, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    """A method that a tensor may have: it proves that the receiver is one, or is taken for that."""
    if name in TENSOR_METHODS or (name == "numpy" and _is_of_torch(run)):
        prove(run, receiver.origin)
        proven = as_proven(run, receiver)
        if isinstance(proven, Tensor):
            return method_of_placed(run, proven, name, node)
    if name in ("size", "dim", "numel", "item", "tolist", "nelement"):
        return HOST
    if name == "get" and arguments.positional and not arguments.open:
        return under_key(run, receiver, arguments.positional[0])
    if name not in _PROVES_TENSOR or not (receiver.parameter or name in TENSOR_METHODS):
        return Unknown(f"{receiver.origin}.{name}()")
    return _method_of_assumed(run, receiver, name, arguments, node)


def _named_of_outside(run: Run, receiver: Symbolic, name: str) -> Value:
    """What else a caller's module gives one by one."""
    tensor = parameter_in(run, receiver)
    return Stream(Tuple((HOST, tensor)) if name.startswith("named") else tensor)


def _is_of_torch(run: Run) -> bool:
    """Whether only tensors of torch have a `.numpy()` here."""
    return _OTHER_TENSORS.isdisjoint(mentions_in(run.program.tree).names)


_OTHER_TENSORS = frozenset({"tensorflow", "paddle", "mxnet", "jax", "tf", "backend"})
_KEEPS_PLACE = frozenset("train eval float double half bfloat16 requires_grad_ apply".split())
"""What a module has too, and what leaves it, or a tensor, where it is."""
_PROVES_TENSOR = frozenset(
    "view reshape permute unsqueeze squeeze transpose contiguous detach clone expand expand_as "
    "long bool int flatten new_zeros new_ones new_tensor new_full new_empty "
    "masked_fill softmax log_softmax sum mean t matmul bmm argmax gather scatter chunk narrow "
    "unbind repeat_interleave repeat type_as add sub mul div pow sqrt exp log abs norm eq ne gt lt "
    "ge le index_select".split()
)


def _method_of_assumed(
    run: Run, receiver: Symbolic, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    device: Device = DeviceOf(receiver.origin)
    if receiver.since is None:
        device = Unsure(f"{receiver.origin} is not known")
    since = receiver.since or Step(Verb.RECEIVED, node, device)
    tensor = Tensor(device, since, None, None)
    return call_tensor_method(run, tensor, name, arguments, node)
