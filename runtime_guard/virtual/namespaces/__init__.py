"""What programs call of `torch.cuda`, `torch.xpu`, `torch.mps` and `torch.accelerator`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime_guard.virtual.namespaces import (
    amp,
    builds,
    drawing,  # noqa: F401 - registers what is done with calls that draw
    events,
    graphs,
    legacy,
    memory_numbers,
    metal,
    properties,
    runtime_library,
    seeding,
    selection,
    streams,
    unmodelled,
)

if TYPE_CHECKING:
    from runtime_guard.virtual.patching import Patches


def install(patches: Patches) -> None:
    """Let every name of these answer for the machine in effect."""
    for part in (
        builds,
        selection,
        properties,
        memory_numbers,
        runtime_library,
        events,
        streams,
        graphs,
        seeding,
        legacy,
        amp,
        metal,
        unmodelled,
    ):
        part.install(patches)
