"""The texts by which torch, and what people run with it, say that a device is wrong.

Sources: the strings of torch 2.13's binaries, torch's Python code and its meta kernels; for older
releases the titles of public issues. `since` and `until` are releases seen to say so, where known.
"""

from __future__ import annotations

from runtime_guard._text import ANOTHER_KIND, DEVICE, ONE_KIND, Text


def text_of(error: BaseException) -> Text | None:
    """The text that an exception has; None where it is not about devices."""
    message = "\n".join(part for part in error.args if isinstance(part, str))
    return next((text for text in TEXTS if text.matches(error, message)), None)


_CHOOSE = "write `device = 'cuda' if torch.cuda.is_available() else 'cpu'`, and use that"
_MAP = "write `torch.load(…, map_location=device)`"
_FORK = (
    "leave the samples on the CPU in the Dataset, and move each batch in the training loop; or "
    "start the processes by `spawn`"
)

TEXTS = (
    Text(
        "operator",
        r"Expected all tensors to be on the same device(?:, but |\. addmm)",
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from "
        "other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)",
        since="1.5",
    ),
    Text(
        "elementwise operator, by its device",
        rf"\bexpected device {DEVICE}(?: and dtype \w+)? but got device {DEVICE}",
        "expected device cuda:0 and dtype Float but got device cpu and dtype Float",
        since="1.2",
        until="1.4",
    ),
    Text(
        "elementwise operator, by its type",
        rf"\bexpected type {ONE_KIND} but got {ANOTHER_KIND}",
        "expected type torch.cuda.FloatTensor but got torch.FloatTensor",
        since="1.0",
        until="1.2",
    ),
    Text(
        "legacy kernel, by its device",
        r"Expected object of (device type|backend) (\w+) but got \1 (?!\2\b)",
        "Expected object of device type cuda but got device type cpu for argument #1 'self' in "
        "call to _th_index_select",
        since="1.0",
        until="1.6",
    ),
    Text(
        "legacy kernel, by its type",
        rf"Expected object of type {ONE_KIND} but found type {ANOTHER_KIND}",
        "Expected object of type torch.cuda.FloatTensor but found type torch.FloatTensor for "
        "argument #4 'mat1'",
        until="0.4",
    ),
    Text(
        "matrix product",
        r"Tensor for (?:argument #\d+ )?'\w+' is on CPU, .*?expected (?:it|them) to be",
        "Tensor for argument #2 'mat1' is on CPU, but expected it to be on GPU (while checking "
        "arguments for addmm)",
        since="1.5",
        until="1.9",
    ),
    Text(
        "dense tensor in a kernel",
        r"Expected tensor to have \w+ Backend, but got tensor with \w+ Backend",
        "Expected tensor to have cpu Backend, but got tensor with cuda Backend (while checking "
        "arguments for cudnn_ctc_loss)",
    ),
    Text(
        "argument of a kernel",
        r"to have the same device as tensor for argument",
        "Expected tensor for argument #1 'input' to have the same device as tensor for argument "
        "#2 'weight'; but device 1 does not equal 0 (while checking arguments for "
        "cudnn_convolution)",
    ),
    Text(
        "two GPUs",
        r"located on different GPUs",
        "arguments are located on different GPUs at /pytorch/aten/src/THC/generic/"
        "THCTensorMathBlas.cu:236",
        until="1.4",
    ),
    Text(
        "embedding",
        r"Input, output and indices must be on the current device",
        "Input, output and indices must be on the current device",
        since="1.5",
        until="1.8",
    ),
    Text(
        "convolution",
        rf"Input type \({ONE_KIND}\) and (?:weight|bias) type \({ANOTHER_KIND}\) should be "
        "the same",
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the "
        "same or input should be a MKLDNN tensor and weight is a dense tensor",
        since="1.0",
    ),
    Text(
        "recurrent network",
        r"Input and (?:parameter|hidden) tensors are not at the same device",
        "Input and parameter tensors are not at the same device, found input tensor at cpu and "
        "parameter tensor at cuda:0",
        since="1.0",
    ),
    Text(
        "meta kernel",
        rf"Tensor on device {DEVICE} is not on the expected device {DEVICE}",
        "Tensor on device cpu is not on the expected device meta!",
        since="1.13",
    ),
    Text(
        "fake tensors",
        r"Unhandled FakeTensor Device Propagation for .*found two different devices",
        "Unhandled FakeTensor Device Propagation for aten.mm.default, found two different devices "
        "cuda:0, cpu",
        since="2.0",
    ),
    Text(
        "copy in a meta kernel",
        rf"Attempting to copy from device {DEVICE} to device {DEVICE}, but cross-dev",
        "Attempting to copy from device cpu to device meta, but cross-device copies are not "
        "allowed!",
        since="2.0",
    ),
    Text(
        "indexing",
        r"indices should be either on (?:\w+ or on the same device|the same device)",
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
        since="1.8",
    ),
    Text(
        "masked_fill",
        r"expected self and mask to be on the same device",
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
        since="1.9",
    ),
    Text(
        "attention",
        r"Expected query, key, and value to have the same device type",
        "Expected query, key, and value to have the same device type, but got query.device: "
        "cuda:0 key.device: cpu and value.device: cpu instead.",
        since="2.0",
    ),
    Text(
        "gradient",
        r"assign a gradient with device type '\w+' to a tensor with device type",
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type "
        "'cuda'. Please ensure that the gradient and the tensor are on the same device",
        since="2.0",
    ),
    Text(
        "Metal",
        r"Placeholder storage has not been allocated on MPS|Passed CPU tensor to MPS op",
        "Placeholder storage has not been allocated on MPS device!",
        since="1.12",
    ),
    Text(
        "Triton",
        r"Pointer argument .*cannot be accessed from Triton",
        "Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
        errors=("ValueError",),
    ),
    Text(
        "state of an optimizer",
        r"If capturable=False, state_steps should not be",
        "If capturable=False, state_steps should not be CUDA tensors.",
        "other",
        "move the model before the optimizer is made, and load the optimizer's state after that",
        errors=("AssertionError",),
        since="1.12",
    ),
    Text(
        "numpy",
        rf"can't convert {DEVICE} device type tensor to numpy",
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
        "host memory first.",
        "host",
        errors=("TypeError",),
        since="1.0",
    ),
    Text(
        "lengths of sequences",
        r"'lengths' argument should be a 1D CPU int64 tensor, but got 1D (?!cpu)",
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
        "host",
        argument="lengths",
        since="1.7",
    ),
    Text(
        "pinned memory",
        r"cannot pin '.*' only dense CPU tensors can be pinned",
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
        "host",
        "pin it before it is moved; a Dataset whose samples are on the GPU needs no `pin_memory`",
        since="1.0",
    ),
    Text(
        "generator",
        r"Expected a .*(?:device type for generator|generator device) but",
        "Expected a 'cuda' device type for generator but found 'cpu'",
        "other",
        "write `torch.Generator(device=…)` with the device of the tensors it is used for; a "
        "DataLoader's own generator stays on the CPU",
        since="1.6",
    ),
    Text(
        "DataParallel",
        r"module must have its parameters and buffers on device",
        "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found "
        "one of them on device: cpu",
        "other",
        "move the model to the first of the `device_ids` before it is wrapped",
        since="1.0",
    ),
    Text(
        "DistributedDataParallel",
        r"only work with single-device(?:/multiple-device)? GPU modules",
        "DistributedDataParallel device_ids and output_device arguments only work with "
        "single-device/multiple-device GPU modules or CPU modules, but got device_ids [1], "
        "output_device None, and module parameters {device(type='cpu')}.",
        "other",
        "write `model.to(device)` before the model is wrapped, or leave out `device_ids`",
        errors=("ValueError", "AssertionError"),
        since="1.2",
    ),
    Text(
        "collective",
        r"No backend type associated with device type|Tensors must be CUDA and dense",
        "No backend type associated with device type cpu",
        "other",
        "move the tensor to the rank's device: the backend of the process group takes no others",
        since="1.0",
    ),
    Text(
        "number of a device",
        r"invalid device ordinal",
        "CUDA error: invalid device ordinal",
        "other",
        "count the devices with `torch.cuda.device_count()`: the first is number 0, and "
        "CUDA_VISIBLE_DEVICES numbers them anew",
        since="1.0",
    ),
    Text(
        "checkpoint",
        r"Attempting to deserialize object on (?:a )?\w+ device",
        "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False."
        " If you are running on a CPU-only machine, please use torch.load with "
        "map_location=torch.device('cpu') to map your storages to the CPU.",
        "other",
        _MAP,
        since="1.0",
    ),
    Text(
        "no such accelerator",
        r"not compiled with \w+ enabled|Found no NVIDIA driver"
        r"|No (?:CUDA|HIP) GPUs are available|is not linked with support for \w+ devices",
        "Torch not compiled with CUDA enabled",
        "other",
        _CHOOSE,
        errors=("AssertionError", "RuntimeError"),
        since="1.0",
    ),
    Text(
        "forked process",
        r"Cannot re-initialize CUDA in forked subprocess",
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
        "must use the 'spawn' start method",
        "other",
        _FORK,
        since="1.0",
    ),
    Text(
        "tensors without data",
        r"Cannot copy out of meta tensor; no data|cannot be called on meta tensors",
        "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead "
        "of torch.nn.Module.to() when moving module from meta to a different device.",
        "other",
        "load the weights before they are used, or write `model.to_empty(device=device)` and "
        "initialise them: a tensor on meta has no data",
        since="1.11",
    ),
    # What all the others come to, in operators of every release.
    Text(
        "same device",
        r"(?i)\b(?:on|in|have|at) (?:the )?same (?:CUDA |GPU |MPS )?device\b"
        r"|\bsame device type\b|\bon different devices\b",
        "torch.cat(): all input tensors must be on the same device. Received cuda:0 and cpu",
        errors=("RuntimeError", "ValueError"),
    ),
)
