"""Runs the test suites of public packages on the CPU and on virtual GPUs, and says what differs.

    python -m benchmarks.other_suites CHECKOUTS --out DIR [--only NAME ...] [--minutes M] [--json F]

CHECKOUTS holds the packages as OWNER+NAME; README.md says what each needs to be installed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.other_suites.outcomes import Comparison, compared, read
from benchmarks.other_suites.suites import Suite, command, environment, suites


def run(suite: Suite, checkout: Path, out: Path, *, on_device: bool, limit: float) -> Path:
    """Run a suite, and return its JUnit file; what pytest printed lies beside it."""
    kind = "there" if on_device else "here"
    junit = out / f"{suite.name}.{kind}.xml"
    junit.unlink(missing_ok=True)
    words = [*command(suite, suite.tests, on_device=on_device), f"--junit-xml={junit}"]
    if on_device:
        words.append(f"--virtual-gpu-report={out / f'{suite.name}.json'}")
    environ = environment(suite, checkout, on_device=on_device)
    with (out / f"{suite.name}.{kind}.log").open("w", encoding="utf-8") as log:
        try:
            folder = checkout / suite.folder
            subprocess.run(
                words, cwd=folder, env=environ, stdout=log, stderr=log, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            log.write(f"\nended after {limit:.0f} s\n")
    return junit


def measured(suite: Suite, checkout: Path, out: Path, limit: float) -> Comparison | None:
    """Run a suite both ways; None where one of the runs did not come to its end."""
    here = read(run(suite, checkout, out, on_device=False, limit=limit))
    there = read(run(suite, checkout, out, on_device=True, limit=limit))
    report = out / f"{suite.name}.json"
    if not here or not there or not report.exists():
        return None
    used = json.loads(report.read_text("utf-8"))["used_a_device"]
    return compared(here, there, used, suite.own)


def rows(found: dict[str, Comparison | None]) -> Iterator[str]:
    """The table, a line for each suite and one for all."""
    yield "| package | tests | used a device | failed there | of what | its own | in both | time |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    ended = {name: one for name, one in found.items() if one is not None}
    for name, one in ended.items():
        kinds = ", ".join(f"{count} {kind}" for kind, count in one.broken.most_common())
        yield (
            f"| {name} | {one.tests:,} | {one.on_device:,} | {one.broken.total()} | {kinds} | "
            f"{one.own} | {one.broken_on_cpu} | {one.ratio:.1f} |"
        )
    total = [sum(each) for each in zip(*map(_numbers, ended.values()), strict=True)] or [0] * 5
    yield f"| **all** | {total[0]:,} | {total[1]:,} | {total[2]} | | {total[3]} | {total[4]} | |"
    for name in found.keys() - ended.keys():
        yield f"| {name} | did not come to its end | | | | | | |"


def _numbers(one: Comparison) -> tuple[int, ...]:
    return one.tests, one.on_device, one.broken.total(), one.own, one.broken_on_cpu


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.other_suites", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="where logs and reports go")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these suites alone")
    parser.add_argument("--minutes", type=float, default=20, help="for one run of one suite")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    return parser.parse_args()


def main() -> int:
    """Run what the command line asks for."""
    given = _arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Comparison | None] = {}
    for suite in suites():
        checkout = given.checkouts / suite.repository.replace("/", "+")
        if (given.only and suite.name not in given.only) or not checkout.is_dir():
            continue
        found[suite.name] = measured(suite, checkout.resolve(), given.out, given.minutes * 60)
        print("\n".join(rows({suite.name: found[suite.name]})), flush=True)
    print("\n".join(rows(found)))
    if given.json:
        content: dict[str, Any] = {
            name: None if one is None else {**asdict(one), "broken": dict(one.broken)}
            for name, one in found.items()
        }
        given.json.write_text(f"{json.dumps(content, indent=2)}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
