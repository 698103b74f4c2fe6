"""How long a run took, part by part and rule by rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from devicelint.profiling import REST

_RULES = "rules"


def render(seconds: Mapping[str, float], files: int) -> Iterator[str]:
    """The lines of the table; a rule is what has a code, and the parts come in their order."""
    rules = {name: spent for name, spent in seconds.items() if " " in name and name != REST}
    parts = {name: spent for name, spent in seconds.items() if name not in rules}
    total = sum(seconds.values())
    number = f"{files} file" if files == 1 else f"{files} files"
    yield f"{total:.3f} s for {number}"
    rest = parts.pop(REST, 0.0)
    for name, spent in {**parts, _RULES: sum(rules.values()), REST: rest}.items():
        yield _line(name, spent, total)
        if name == _RULES:
            for rule, its in sorted(rules.items(), key=lambda pair: -pair[1]):
                yield _line(f"  {rule}", its, total)


def _line(name: str, spent: float, total: float) -> str:
    return f"  {name:<38} {spent:>8.3f} s {100 * spent / max(total, 1e-9):>5.1f} %"
