"""What a report is of: the program, its processes, and what of them is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runtime_guard.profiler.recording.recording import Header, Recording
from runtime_guard.profiler.report.totals import Summary
from runtime_guard.profiler.report.words import counted, duration, printable, short_path

VIRTUAL = (
    "On a virtual GPU nothing is copied: there are no times, no shares, and no advice about them."
)


def titles(recordings: Sequence[Recording], summary: Summary) -> list[str]:
    """What was recorded, and what of it is not here."""
    header = recordings[0].header
    longest = max(recording.seconds for recording in recordings)
    hosts = sorted({each.header.host for each in recordings})
    parts = [
        _processes(recordings),
        f"{', '.join(hosts[:3])}{' …' if len(hosts) > 3 else ''}",
        f"torch {header.torch}",
        counted(max(each.steps for each in recordings), "step") if summary.steps else "",
        duration(longest * 1e6) if longest and not summary.virtual else "",
    ]
    about = ", ".join(filter(None, parts))
    return [
        printable(f"{' '.join([program(header), *header.argv[1:]])} ({about})"),
        *([VIRTUAL] if summary.virtual else []),
        *_incomplete(recordings),
    ]


def program(header: Header) -> str:
    """What was run, without its arguments; python alone where it was no file."""
    name = header.argv[0] if header.argv else ""
    return "python" if name in {"", "-", "-c", "-m"} else short_path(name)


def _processes(recordings: Sequence[Recording]) -> str:
    if len(recordings) == 1:
        return ""
    ranks = sum(recording.header.rank is not None for recording in recordings)
    others = len(recordings) - ranks
    parts = [
        counted(ranks, "rank") if ranks else "",
        counted(others, "process", "processes") if others else "",
    ]
    return ", ".join(filter(None, parts))


def _incomplete(recordings: Sequence[Recording]) -> Iterable[str]:
    if unfinished := sum(not recording.complete for recording in recordings):
        which = f"{unfinished} of {len(recordings)} processes" if len(recordings) > 1 else "The run"
        yield f"{which} did not close the record (killed, or still running): its end may be missing"
    if dropped := sum(recording.dropped for recording in recordings):
        yield f"{counted(dropped, 'event or value', 'events and values')} went uncounted: too many"
