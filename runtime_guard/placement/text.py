"""A placement for people: a table of the devices, and what was left behind."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.filesize import decimal
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from runtime_guard.placement.placement import by_text, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from runtime_guard.placement.placement import PlacedTensor, Placement

_WIDTH = 100


def text_of(placement: Placement) -> str:
    """Render without colour, as wide as a page."""
    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None)
    with console.capture() as captured:
        console.print(placement)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def rendered(placement: Placement) -> RenderableType:
    """Build what rich draws for a placement."""
    return Group(_devices(placement), *_named(placement))


def _devices(placement: Placement) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("device", "held as"):
        table.add_column(name)
    for name in ("tensors", "bytes"):
        table.add_column(name, justify="right")
    for device, (tensors, size) in placement.by_device.items():
        table.add_row(_device(device, placement), "", str(tensors), decimal(size), style="bold")
        for kind, count, kind_size in _kinds(placement, device):
            table.add_row("", kind, str(count), decimal(kind_size), style="dim")
    return table


def _device(device: str, placement: Placement) -> str:
    return f"{device} (main)" if device == placement.main_device else device


def _kinds(placement: Placement, device: str) -> Iterator[tuple[str, int, int]]:
    sizes: dict[str, list[int]] = {}
    for entry in placement.entries:
        if entry.tensor.device == device and not entry.same_as:
            sizes.setdefault(entry.kind, []).append(entry.tensor.bytes)
    for kind, each in sizes.items():
        yield kind, len(each), sum(each)


def _named(placement: Placement) -> Iterator[RenderableType]:
    if placement.left_behind:
        head = f"\nleft behind on cpu, while the model is on {placement.main_device}:"
        yield Text(head, style="bold red")
        yield from _groups(placement.left_behind)
    if placement.remarks:
        yield Text("\nworth knowing:", style="bold")
        yield from _groups(placement.remarks)


def _groups(entries: Iterable[PlacedTensor]) -> Iterator[RenderableType]:
    for said, group in by_text(entries).items():
        yield Padding(Text(summary_of(group), style="bold"), (0, 0, 0, 2))
        yield Padding(Text(said), (0, 0, 0, 4))
