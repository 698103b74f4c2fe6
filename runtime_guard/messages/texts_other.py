"""The texts about what is not two tensors that met: the host, the model, the machine, a file."""

from __future__ import annotations

from runtime_guard.messages.text import DEVICE, ErrorText

_CHOOSE = "write `device = 'cuda' if torch.cuda.is_available() else 'cpu'`, and use that"
_MAP = "write `torch.load(…, map_location=device)`"
_FORK = (
    "leave the samples on the CPU in the Dataset, and move each batch in the training loop; or "
    "start the processes by `spawn`"
)

OTHERS = (
    ErrorText(
        "state of an optimizer",
        r"If capturable=False, state_steps should not be",
        "If capturable=False, state_steps should not be CUDA tensors.",
        "other",
        "move the model before the optimizer is made, and load the optimizer's state after that",
        errors=("AssertionError",),
        since="1.12",
    ),
    ErrorText(
        "numpy",
        rf"can't convert {DEVICE} device type tensor to numpy",
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
        "host memory first.",
        "host",
        errors=("TypeError",),
        since="1.0",
    ),
    ErrorText(
        "lengths of sequences",
        r"'lengths' argument should be a 1D CPU int64 tensor, but got 1D (?!cpu)",
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
        "host",
        argument="lengths",
        since="1.7",
    ),
    ErrorText(
        "pinned memory",
        r"cannot pin '.*' only dense CPU tensors can be pinned",
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
        "host",
        "pin it before it is moved; a Dataset whose samples are on the GPU needs no `pin_memory`",
        since="1.0",
    ),
    ErrorText(
        "generator",
        r"Expected a .*(?:device type for generator|generator device) but",
        "Expected a 'cuda' device type for generator but found 'cpu'",
        "generator",
        "write `torch.Generator(device=…)` with the device of the tensors that it fills",
        since="1.6",
    ),
    ErrorText(
        "DataParallel",
        r"module must have its parameters and buffers on device",
        "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found "
        "one of them on device: cpu",
        "model",
        "move the model to the first of the `device_ids` before it is wrapped",
        since="1.0",
    ),
    ErrorText(
        "DistributedDataParallel",
        r"only work with single-device(?:/multiple-device)? GPU modules",
        "DistributedDataParallel device_ids and output_device arguments only work with "
        "single-device/multiple-device GPU modules or CPU modules, but got device_ids [1], "
        "output_device None, and module parameters {device(type='cpu')}.",
        "model",
        "write `model.to(device)` before the model is wrapped, or leave out `device_ids`",
        errors=("ValueError", "AssertionError"),
        since="1.2",
    ),
    ErrorText(
        "parameters under DistributedDataParallel",
        r"input module must be on the same type of devices",
        "DistributedDataParallel's input module must be on the same type of devices, but input "
        "module parameters locate in {'cuda', 'cpu'}.",
        "model",
        "write `model.to(device)` before the model is wrapped",
        errors=("ValueError", "AssertionError"),
        since="1.7",
    ),
    ErrorText(
        "collective",
        r"No backend type associated with device type|Tensors must be CUDA and dense",
        "No backend type associated with device type cpu",
        "other",
        "move the tensor to the rank's device: the backend of the process group takes no others",
        since="1.0",
    ),
    ErrorText(
        "number of a device",
        r"invalid device ordinal",
        "CUDA error: invalid device ordinal",
        "other",
        "count the devices with `torch.cuda.device_count()`: the first is number 0, and "
        "CUDA_VISIBLE_DEVICES numbers them anew",
        since="1.0",
    ),
    ErrorText(
        "checkpoint",
        r"Attempting to deserialize object on (?:a )?\w+ device",
        "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False."
        " If you are running on a CPU-only machine, please use torch.load with "
        "map_location=torch.device('cpu') to map your storages to the CPU.",
        "other",
        _MAP,
        since="1.0",
    ),
    ErrorText(
        "no such accelerator",
        r"not compiled with \w+ enabled|Found no NVIDIA driver"
        r"|No (?:CUDA|HIP) GPUs are available|is not linked with support for \w+ devices",
        "Torch not compiled with CUDA enabled",
        "other",
        _CHOOSE,
        errors=("AssertionError", "RuntimeError"),
        since="1.0",
    ),
    ErrorText(
        "forked process",
        r"Cannot re-initialize CUDA in forked subprocess",
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
        "must use the 'spawn' start method",
        "other",
        _FORK,
        since="1.0",
    ),
    ErrorText(
        "tensors without data",
        r"Cannot copy out of meta tensor; no data|cannot be called on meta tensors",
        "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead "
        "of torch.nn.Module.to() when moving module from meta to a different device.",
        "other",
        "load the weights before they are used, or write `model.to_empty(device=device)` and "
        "initialise them: a tensor on meta has no data",
        since="1.11",
    ),
)
