"""How long an editor waits for what it shows: after it opens a file, and while somebody types.

    python -m benchmarks.server FOLDER... [--files 50] [--against CHECKOUT] [--json FILE]

A real client talks to `devicelint server` over its standard streams, with a new server for each
file: it opens the file, and types comments, code in functions, and new lines at the top. After each
change it asks for the findings, and for the devices to be shown beside the code. What counts is the
processor time of the server, which does not depend on what else the machine does. With `--against`,
a server of another checkout takes its turn with each file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from benchmarks.promised import all_kept
from benchmarks.server_session import OPENED, START, STEPS, Editor, Timing, after

LINES = 500
MOST_LINES = 1_000
PROMISES = {START: 0.7, OPENED: 1.0, after("comment"): 0.1, after("code"): 0.1}
"""The median of a step, in seconds of the processor."""
_HERE = Path(__file__).resolve().parents[1]


def scripts(folders: Sequence[Path], most: int) -> list[Path]:
    """The files about torch that come nearest to 500 lines, of each folder in turn."""
    by_folder = (_nearest(folder) for folder in folders)
    in_turn = chain.from_iterable(zip_longest(*by_folder))
    return [path for path in in_turn if path is not None][:most]


def _nearest(folder: Path) -> Iterator[Path]:
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.count("\n") + 1
        if "torch" in text and lines <= MOST_LINES:
            found.append((abs(lines - LINES), path))
    return (path for _, path in sorted(found))


def quantiles(timings: Sequence[Timing], step: str) -> tuple[float, float] | None:
    """The median of the processor time of a step, and its 95th percentile."""
    times = sorted(one.cpu for timing in timings for one in timing.steps.get(step, ()))
    if not times:
        return None
    return statistics.median(times), times[min(len(times) * 95 // 100, len(times) - 1)]


def rows(timings: Sequence[Timing], before: Sequence[Timing]) -> Iterator[str]:
    """The table: each step, in milliseconds, and how many times as long it took before."""
    ahead = f"{'before: median':>16} {'95 %':>7} {'ratio':>14}" if before else ""
    yield f"{'milliseconds of the processor':<30} {'median':>7} {'95 %':>7} {ahead}".rstrip()
    for step in STEPS:
        now = quantiles(timings, step)
        if now is None:
            continue
        row = f"{step:<30} {1000 * now[0]:>7.0f} {1000 * now[1]:>7.0f}"
        if (then := quantiles(before, step)) is not None:
            ratios = f"{then[0] / now[0]:.1f}, {then[1] / now[1]:.1f}"
            row += f" {1000 * then[0]:>16.0f} {1000 * then[1]:>7.0f} {ratios:>14}"
        yield row


async def measured(paths: Sequence[Path], checkouts: Sequence[Path]) -> tuple[list[Timing], ...]:
    """What the files take, one after the other, with a server of each checkout."""
    found: tuple[list[Timing], ...] = tuple([] for _ in checkouts)
    for number, path in enumerate(paths, start=1):
        for checkout, timings in zip(checkouts, found, strict=True):
            timings.append(await Editor(checkout).timing(path))
        opened = "  ".join(f"{1000 * one[-1].steps[OPENED][0].cpu:.0f} ms" for one in found)
        print(f"{number} of {len(paths)}: {path.name}: {opened}", file=sys.stderr)
    return found


def as_data(timings: Sequence[Timing]) -> list[dict[str, object]]:
    """All times, for `--json`."""
    return [{"file": str(one.path), "lines": one.lines, "steps": one.steps} for one in timings]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether the promises are kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", help="checkouts of code about torch")
    parser.add_argument("--files", type=int, default=50, help="how many files (default 50)")
    parser.add_argument("--against", type=Path, help="a checkout of devicelint to compare with")
    parser.add_argument("--json", type=Path, help="write all times to this file")
    options = parser.parse_args(words)
    if not hasattr(time, "clock_gettime") or sys.platform != "linux":
        print("server.py: only Linux tells the processor time of a server", file=sys.stderr)
        return 2
    paths = scripts(options.folders, options.files)
    if not paths:
        print(f"{options.folders[0]}: holds no script about torch", file=sys.stderr)
        return 2
    checkouts = [_HERE, *([options.against.resolve()] if options.against else ())]
    timings, *others = asyncio.run(measured(paths, checkouts))
    lines = [one.lines for one in timings]
    print(f"{len(paths)} files of {min(lines)} to {max(lines)} lines")
    print(*rows(timings, others[0] if others else ()), sep="\n")
    if options.json:
        kept = [as_data(one) for one in (timings, *others)]
        options.json.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    return 0 if all_kept(_promises(timings)) else 1


def _promises(timings: Sequence[Timing]) -> Iterator[tuple[bool, str]]:
    for step, most in PROMISES.items():
        found = quantiles(timings, step)
        if found is not None:
            label = f"{step}: at most {1000 * most:.0f} ms in the median"
            yield found[0] <= most, f"{label}: {1000 * found[0]:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
