"""The texts by which torch, and what people run with it, say that a device is wrong.

Sources: the strings of torch 2.13's binaries, torch's Python code and its meta kernels; for older
releases the titles of public issues. `since` and `until` are releases seen to say so, where known.
"""

from __future__ import annotations

from runtime_guard.messages.text import ANOTHER_KIND, DEVICE, ONE_KIND, ErrorText
from runtime_guard.messages.texts_other import OTHERS


def text_of(error: BaseException) -> ErrorText | None:
    """The text that an exception has; None where it is not about devices."""
    message = "\n".join(part for part in error.args if isinstance(part, str))
    return next((text for text in TEXTS if text.matches(error, message)), None)


TEXTS = (
    ErrorText(
        "operator",
        r"Expected all tensors to be on the same device(?:, but |\. addmm)",
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from "
        "other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)",
        since="1.5",
    ),
    ErrorText(
        "elementwise operator, by its device",
        rf"\bexpected device {DEVICE}(?: and dtype \w+)? but got device {DEVICE}",
        "expected device cuda:0 and dtype Float but got device cpu and dtype Float",
        since="1.2",
        until="1.4",
    ),
    ErrorText(
        "elementwise operator, by its type",
        rf"\bexpected type {ONE_KIND} but got {ANOTHER_KIND}",
        "expected type torch.cuda.FloatTensor but got torch.FloatTensor",
        since="1.0",
        until="1.2",
    ),
    ErrorText(
        "legacy kernel, by its device",
        r"Expected object of (device type|backend) (\w+) but got \1 (?!\2\b)",
        "Expected object of device type cuda but got device type cpu for argument #1 'self' in "
        "call to _th_index_select",
        since="1.0",
        until="1.6",
    ),
    ErrorText(
        "legacy kernel, by its type",
        rf"Expected object of type {ONE_KIND} but found type {ANOTHER_KIND}",
        "Expected object of type torch.cuda.FloatTensor but found type torch.FloatTensor for "
        "argument #4 'mat1'",
        until="0.4",
    ),
    ErrorText(
        "matrix product",
        r"Tensor for (?:argument #\d+ )?'\w+' is on CPU, .*?expected (?:it|them) to be",
        "Tensor for argument #2 'mat1' is on CPU, but expected it to be on GPU (while checking "
        "arguments for addmm)",
        since="1.5",
        until="1.9",
    ),
    ErrorText(
        "dense tensor in a kernel",
        r"Expected tensor to have \w+ Backend, but got tensor with \w+ Backend",
        "Expected tensor to have cpu Backend, but got tensor with cuda Backend (while checking "
        "arguments for cudnn_ctc_loss)",
    ),
    ErrorText(
        "argument of a kernel",
        r"to have the same device as tensor for argument",
        "Expected tensor for argument #1 'input' to have the same device as tensor for argument "
        "#2 'weight'; but device 1 does not equal 0 (while checking arguments for "
        "cudnn_convolution)",
    ),
    ErrorText(
        "two GPUs",
        r"located on different GPUs",
        "arguments are located on different GPUs at /pytorch/aten/src/THC/generic/"
        "THCTensorMathBlas.cu:236",
        until="1.4",
    ),
    ErrorText(
        "embedding",
        r"Input, output and indices must be on the current device",
        "Input, output and indices must be on the current device",
        since="1.5",
        until="1.8",
    ),
    ErrorText(
        "convolution",
        rf"Input type \({ONE_KIND}\) and (?:weight|bias) type \({ANOTHER_KIND}\) should be "
        "the same",
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the "
        "same or input should be a MKLDNN tensor and weight is a dense tensor",
        since="1.0",
    ),
    ErrorText(
        "recurrent network",
        r"Input and (?:parameter|hidden) tensors are not at the same device",
        "Input and parameter tensors are not at the same device, found input tensor at cpu and "
        "parameter tensor at cuda:0",
        since="1.0",
    ),
    ErrorText(
        "meta kernel",
        rf"Tensor on device {DEVICE} is not on the expected device {DEVICE}",
        "Tensor on device cpu is not on the expected device meta!",
        since="1.13",
    ),
    ErrorText(
        "fake tensors",
        r"Unhandled FakeTensor Device Propagation for .*found two different devices",
        "Unhandled FakeTensor Device Propagation for aten.mm.default, found two different devices "
        "cuda:0, cpu",
        since="2.0",
    ),
    ErrorText(
        "copy in a meta kernel",
        rf"Attempting to copy from device {DEVICE} to device {DEVICE}, but cross-dev",
        "Attempting to copy from device cpu to device meta, but cross-device copies are not "
        "allowed!",
        since="2.0",
    ),
    ErrorText(
        "indexing",
        r"indices should be either on (?:\w+ or on the same device|the same device)",
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
        since="1.8",
    ),
    ErrorText(
        "masked_fill",
        r"expected self and mask to be on the same device",
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
        since="1.9",
    ),
    ErrorText(
        "attention",
        r"Expected query, key, and value to have the same device type",
        "Expected query, key, and value to have the same device type, but got query.device: "
        "cuda:0 key.device: cpu and value.device: cpu instead.",
        since="2.0",
    ),
    ErrorText(
        "gradient",
        r"assign a gradient with device type '\w+' to a tensor with device type",
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type "
        "'cuda'. Please ensure that the gradient and the tensor are on the same device",
        since="2.0",
    ),
    ErrorText(
        "Metal",
        r"Placeholder storage has not been allocated on MPS|Passed CPU tensor to MPS op",
        "Placeholder storage has not been allocated on MPS device!",
        since="1.12",
    ),
    ErrorText(
        "Triton",
        r"Pointer argument .*cannot be accessed from Triton",
        "Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
        errors=("ValueError",),
    ),
    *OTHERS,
    # What all the others come to, in operators of every release.
    ErrorText(
        "same device",
        r"(?i)\b(?:on|in|have|at) (?:the )?same (?:CUDA |GPU |MPS )?device\b"
        r"|\bsame device type\b|\bon different devices\b",
        "torch.cat(): all input tensors must be on the same device. Received cuda:0 and cpu",
        errors=("RuntimeError", "ValueError"),
    ),
)
