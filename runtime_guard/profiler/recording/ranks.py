"""What a rank sends to the first one at the end: its sums, in one line of bounded size."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runtime_guard import distributed
from runtime_guard.profiler.recording.events import header_line
from runtime_guard.profiler.recording.tables import RecordingTables
from runtime_guard.profiler.recording.values import Header

LARGEST_SUMMARY = 256_000


def room_for_each(max_bytes: int) -> int:
    """Return how large a summary may be, lest all of them outgrow the file of rank 0."""
    return min(LARGEST_SUMMARY, max_bytes // 8 // (distributed.world_size() or 1))


def summary(
    header: Header,
    tables: RecordingTables,
    mismatches: Sequence[dict[str, Any]],
    at: float,
    room: int,
) -> bytes:
    """Return the line for this rank in the file of rank 0."""
    content = {
        "type": "rank",
        "rank": header.rank,
        "host": header.host,
        "header": json.loads(header_line(header, continues=False)),
        "totals": tables.summary(at, room // 2),
        "mismatches": _as_many(mismatches, room // 4),
    }
    return json.dumps(content).encode("ascii")


def lines_of(received: Sequence[bytes | None] | None) -> str:
    """Return the lines of all ranks but the first, of those that came."""
    return "".join(f"{each.decode('ascii')}\n" for each in (received or ())[1:] if each)


def _as_many(contents: Sequence[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    kept = []
    for each in contents:
        room -= len(json.dumps(each))
        if room < 0:
            break
        kept.append(each)
    return kept
