"""docs/comparison.md, from tools/comparison.toml: what devicelint and other linters can do."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).with_suffix(".toml")
PAGE = Path("docs/comparison.md")

NOT = "\N{EN DASH}"
"""What stands where there is no tick."""

_HEAD = """\
<!-- Written by tools/generate.py from tools/comparison.toml: change that, `make generate`. -->

# How it compares

The other tools on this page are {others}.
Ruff and pylint check Python in general. Fixit is for custom rules, and TorchFix and torch-preflight
are for PyTorch. None of them tracks devices, and devicelint does nothing else, so use it in
addition to them.

devicelint only gets a tick if tests prove the feature; [they are listed below](#what-proves-it).
The columns of the other tools come from their documentation, from their `--help`, and from trying
them. A question mark means that none of these gives the answer.
"""

_MEASURED = """\
## How fast it is

{speed}

[Benchmarks](../benchmarks/README.md) explains what is timed, and how the comparison is kept fair.

## How much it finds

{recall} [How this is measured](../benchmarks/README.md#which-real-bugs-does-it-find).

{precision} [Results by rule and by repository](precision.md).
"""


@dataclass(frozen=True)
class Other:
    """Another linter."""

    name: str
    version: str


@dataclass(frozen=True)
class Feature:
    """A row: what devicelint and each of the others say to it."""

    what: str
    others: tuple[str, ...]
    ours: str
    proof: tuple[str, ...]
    note: str

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Feature:
        """Read an entry; a tick is what tests prove."""
        proof = tuple(entry.get("proof", ()))
        ours = entry.get("ours", "✓" if proof else NOT)
        note = str(entry.get("note", "")).strip()
        return cls(entry["what"], tuple(entry["others"]), ours, proof, note)


@dataclass(frozen=True)
class Comparison:
    """All that is compared."""

    others: tuple[Other, ...]
    groups: Mapping[str, tuple[Feature, ...]]

    @property
    def features(self) -> Iterator[Feature]:
        """Every row."""
        for features in self.groups.values():
            yield from features


def comparison() -> Comparison:
    """Read the data."""
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    groups = {each["title"]: tuple(map(Feature.of, each["feature"])) for each in data["group"]}
    return Comparison(tuple(Other(**each) for each in data["other"]), groups)


def page() -> str:
    """Return docs/comparison.md."""
    compared = comparison()
    names = [f"{other.name} {other.version}" for other in compared.others]
    parts = [_HEAD.format(others=f"{', '.join(names[:-1])} and {names[-1]}")]
    for title, features in compared.groups.items():
        parts.append(f"## {title}\n\n" + "\n".join(_table(compared.others, features)) + "\n")
    parts.append(_measured())
    parts.append("## What proves it\n\n" + "\n".join(_proofs(compared)) + "\n")
    return "\n".join(parts)


def _measured() -> str:
    """What the benchmarks say, in their words."""
    benchmarks = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    precision = (ROOT / "docs/precision.md").read_text(encoding="utf-8")
    speed = _found(r"^## Results\n\n(.*?)\n\n## ", benchmarks)
    return _MEASURED.format(
        speed=speed.replace("](#", "](../benchmarks/README.md#"),
        recall=_found(r"^(Of \d+ fixes in .*?)\n\n## ", benchmarks),
        precision=_found(r"^(Of \d+ findings, .*?)\n\n", precision),
    )


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    if match is None:
        raise ValueError(f"nothing that is measured looks like {pattern}")
    return match[1]


def _table(others: Sequence[Other], features: Sequence[Feature]) -> Iterator[str]:
    yield f"| | devicelint | {' | '.join(other.name for other in others)} |"
    yield f"| --- |{' :-: |' * (len(others) + 1)}"
    for feature in features:
        yield f"| {' | '.join((feature.what, feature.ours, *feature.others))} |"
    notes = [feature.note for feature in features if feature.note]
    if notes:
        yield ""
        yield " ".join(notes)


def _proofs(compared: Comparison) -> Iterator[str]:
    for feature in compared.features:
        if feature.proof:
            yield f"* {feature.what}: {', '.join(f'`{each}`' for each in feature.proof)}"
