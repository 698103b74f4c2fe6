"""What became of all files: tables, promises, and what is not as it was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from benchmarks.adoption.listed import Listed

CLEAN, RUNNING = 0.90, 0.80
"""The least share of the files that adopts to a clean check, and of those that can run that do."""

RECORDED = ("adopted", "left", "ran", "told")


def table(found: Mapping[tuple[str, str], Listed]) -> Iterator[str]:
    """Yield a line for each repository, and one for all."""
    names = sorted({name for name, _ in found})
    width = max(map(len, names))
    heads = ("scripts", "notebooks", "clean", "can run", "run", "same")
    yield f"{'repository':{width}}" + "".join(f"{head:>10}" for head in heads)
    for name in [*names, "all"]:
        mine = [listed for (owner, _), listed in found.items() if name in (owner, "all")]
        yield f"{name:{width}}" + "".join(f"{cell:>10}" for cell in _cells(mine))


def _cells(files: Sequence[Listed]) -> tuple[int, ...]:
    return (
        sum(not each.is_notebook for each in files),
        sum(each.is_notebook for each in files),
        sum(each.adopted == "clean" for each in files),
        sum(_can_run(each) for each in files),
        sum(_runs(each) for each in files),
        sum(each.ran == "same" for each in files),
    )


def _can_run(listed: Listed) -> bool:
    return listed.ran not in ("", "not runnable")


def _runs(listed: Listed) -> bool:
    """Whether the adopted file trains on virtual GPUs."""
    return listed.ran in ("same", "differs on the CPU", "not compared")


def promises(files: Sequence[Listed]) -> Iterator[tuple[bool, str]]:
    """Yield what is promised, and whether it holds."""
    clean = sum(each.adopted == "clean" for each in files) / len(files)
    yield clean >= CLEAN, f"adopt to a clean check: {clean:.1%}, at least {CLEAN:.0%}"
    able = [each for each in files if _can_run(each)]
    if not able:
        return
    share = sum(map(_runs, able)) / len(able)
    yield share >= RUNNING, f"train on virtual GPUs: {share:.1%}, at least {RUNNING:.0%}"
    broken = sum(each.ran in ("differs on the CPU", "fails on the CPU") for each in able)
    yield not broken, f"learn something else on the CPU: {broken}, at most 0"


def differences(repository: str, before: Listed, now: Listed) -> Iterator[str]:
    """Yield what is not as it was recorded."""
    for field in fields(Listed):
        old, new = getattr(before, field.name), getattr(now, field.name)
        if field.name in RECORDED and old != new:
            yield f"recorded otherwise  {repository}/{now.path}: {field.name} {old!r}, now {new!r}"
