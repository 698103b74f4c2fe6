"""What a device says of itself: a plausible one, that bears the memory of the machine's."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.devices.names import ordinal
from runtime_guard.virtual.namespaces.native import stand_in

if TYPE_CHECKING:
    from runtime_guard.virtual.patching import Patches

CAPABILITY: Final = "8.0"
"""The compute capability of a device, where none is asked for."""

NAME: Final = "Virtual GPU"
"""What every virtual device is called."""

MIB: Final = 1024**2


@dataclass(frozen=True)
class CudaProperties:
    """What `torch.cuda.get_device_properties` gives: the figures of an A100.

    Its compute capability, `major` and `minor`, is what was asked for.
    """

    name: str
    total_memory: int
    uuid: uuid.UUID
    pci_bus_id: int
    major: int
    minor: int
    multi_processor_count: int = 108
    max_threads_per_multi_processor: int = 2048
    max_threads_per_block: int = 1024
    warp_size: int = 32
    regs_per_multiprocessor: int = 65536
    shared_memory_per_block: int = 49152
    shared_memory_per_block_optin: int = 166912
    shared_memory_per_multiprocessor: int = 167936
    L2_cache_size: int = 40 * MIB
    clock_rate: int = 1410000
    memory_clock_rate: int = 1593000
    memory_bus_width: int = 5120
    pci_device_id: int = 0
    pci_domain_id: int = 0
    gcnArchName: str = NAME  # noqa: N815 - as torch's
    is_integrated: int = 0
    is_multi_gpu_board: int = 0

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // MIB}MB, "
            f"multi_processor_count={self.multi_processor_count}, uuid={self.uuid}, "
            f"pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size // MIB}MB)"
        )


@dataclass(frozen=True)
class XpuProperties:
    """What `torch.xpu.get_device_properties` gives: the figures of a Data Center GPU Max."""

    name: str
    total_memory: int
    uuid: bytes
    platform_name: str = NAME
    vendor: str = NAME
    device_id: int = 0xBD5
    driver_version: str = "1.6.0"
    version: str = "20250"
    type: str = "gpu"
    max_compute_units: int = 448
    gpu_eu_count: int = 448
    gpu_subslice_count: int = 56
    max_work_group_size: int = 1024
    max_num_sub_groups: int = 64
    memory_clock_rate: int = 3200
    memory_bus_width: int = 64
    local_mem_size: int = 131072
    last_level_cache_size: int = 204 * MIB
    architecture: int = 0
    sub_group_sizes: list[int] = field(default_factory=lambda: [16, 32])
    is_integrated_gpu: bool = False
    has_fp16: bool = True
    has_fp64: bool = True
    has_atomic64: bool = True
    has_bfloat16_conversions: bool = True
    has_subgroup_matrix_multiply_accumulate: bool = True
    has_subgroup_matrix_multiply_accumulate_tensor_float32: bool = True
    has_subgroup_2d_block_io: bool = True

    def __repr__(self) -> str:
        return (
            f"_XpuDeviceProperties(name='{self.name}', platform_name='{self.platform_name}', "
            f"type='{self.type}', total_memory={self.total_memory // MIB}MB, "
            f"max_compute_units={self.max_compute_units})"
        )


def install(patches: Patches) -> None:
    """Let devices be asked for their properties."""
    for holder in (torch._C, torch.cuda):
        patches.put(holder, "_CudaDeviceProperties", CudaProperties)
    for holder in (torch._C, torch.xpu):
        patches.put(holder, "_XpuDeviceProperties", XpuProperties)
    stand_in(patches, torch.cuda, "_get_device_properties", "cuda", of_cuda)
    stand_in(patches, torch.xpu, "_get_device_properties", "xpu", of_xpu)
    stand_in(patches, torch.xpu, "get_device_capability", "xpu", capability)


def of_cuda(index: int) -> CudaProperties:
    """The properties of a device."""
    device = ordinal(index)
    total = machine().accounts[device.index].total
    major, minor = map(int, (machine().asked.capability or CAPABILITY).split("."))
    return CudaProperties(
        NAME, total, uuid.UUID(int=device.index), device.index + 1, major=major, minor=minor
    )


def of_xpu(index: int) -> XpuProperties:
    """The properties of a device."""
    device = ordinal(index)
    total = machine().accounts[device.index].total
    return XpuProperties(NAME, total, uuid=uuid.UUID(int=device.index).bytes)


def capability(device: Any = None) -> dict[str, Any]:
    """What of its properties can be written down; torch's own keeps its answers for good."""
    found = asdict(torch.xpu.get_device_properties(device))
    return {name: value for name, value in found.items() if not isinstance(value, bytes)}
