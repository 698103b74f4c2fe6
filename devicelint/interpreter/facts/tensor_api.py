"""What of torch's API has to do with tensors alone."""

from __future__ import annotations

import functools

from devicelint.knowledge import Role, function, tensor_attribute, tensor_method

TENSOR_METHODS = frozenset(
    "size dim nelement numel unsqueeze unsqueeze_ permute contiguous detach detach_ expand "
    "expand_as long bool new new_zeros new_ones new_tensor new_full new_empty masked_fill "
    "masked_fill_ masked_select masked_scatter softmax log_softmax t matmul bmm mm mv gather "
    "scatter scatter_ scatter_add scatter_add_ index_select index_add index_add_ index_copy_ "
    "index_fill_ narrow unbind repeat_interleave type_as view view_as reshape_as chunk topk "
    "sigmoid sigmoid_ tanh exp log sqrt rsqrt relu relu_ clamp clamp_ clamp_min clamp_max addmm "
    "baddbmm neg triu tril flip fill_ zero_ add_ mul_ div_ sub_ copy_ normal_ uniform_ "
    "element_size data_ptr is_contiguous is_floating_point backward retain_grad is_sparse "
    "to_dense coalesce logsumexp erf log1p expm1 fmod unfold movedim "
    "index_put_".split()
)
"""Methods that torch's tensors have, and arrays, frames and modules do not."""
TENSOR_ATTRIBUTES = frozenset({"is_cuda", "grad_fn", "is_leaf", "mT"})
_USED_FIELDS = frozenset({"dtype", "ndim", "is_cuda"})
_USED_METHODS = frozenset(
    "size dim view reshape permute unsqueeze squeeze transpose contiguous detach numel t float "
    "long repeat flatten type_as cuda cpu to matmul mean bmm".split()
)
_USED_FAMILIES = ("shape", "requires_grad", "expand", "new_", "masked_fill")
_TAKES_NUMBERS = frozenset(
    "pow float_power where result_type promote_types can_cast as_tensor tensor is_tensor add sub "
    "mul div remainder xlogy cat stack hstack vstack concat".split()
)


def is_asked_of_tensors(name: str, *, is_called: bool) -> bool:
    """Whether an attribute is one that tensors are asked for, as a number never is."""
    own = _USED_METHODS if is_called else _USED_FIELDS
    return name in own or name.startswith(_USED_FAMILIES)


@functools.cache
def is_of_no_tensor(name: str) -> bool:
    """Whether no tensor has an attribute of that name."""
    is_asked = name == "device" or any(
        is_asked_of_tensors(name, is_called=called) for called in (True, False)
    )
    return not is_asked and tensor_attribute(name) is None and tensor_method(name) is None


@functools.cache
def takes_only_a_tensor(name: str) -> bool:
    """Whether the first argument of a function of torch can be nothing but a tensor."""
    signature = function(name)
    if signature is None or not signature.parameters or name.rpartition(".")[2] in _TAKES_NUMBERS:
        return False
    slot = signature.parameters[0].slot
    return slot is not None and slot.role is Role.OPERAND and not slot.sequence


@functools.cache
def takes_number(name: str, position: int) -> bool:
    """Whether a function of torch takes a number, or a size, at a position."""
    signature = function(name)
    if signature is None or position >= len(signature.parameters):
        return False
    slots = [one.slot for one in signature.parameters]
    if any(slot is not None and slot.role in (Role.OPERAND, Role.DATA) for slot in slots):
        return False
    slot = slots[position]
    return slot is None or slot.role is Role.SIZE
