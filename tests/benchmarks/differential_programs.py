"""Programs that were written by hand for the judge of generated ones, and findings in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.differential.claims import Claim, Seen, claims_of
from benchmarks.differential.program import Program
from devicelint.domain.worlds import WITH_ONE, World
from devicelint.finding import Finding, Related, Severity, Span

CHOSEN = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'


def program(*lines: str, mark: str = "by-hand") -> Program:
    """A program of these lines."""
    return Program("\n".join(lines) + "\n", (frozenset({mark}),) * len(lines))


MIXES = program(
    "import torch",
    CHOSEN,
    "x = torch.ones(3)",
    "y = torch.ones(3, device=device)",
    "z = x + y",
)
RUNS = program(
    "import torch",
    CHOSEN,
    "x = torch.ones(3, device=device)",
    "y = x + 1 if x.sum() > 0 else x.cpu() + x",
    "z = x + y",
)
NEEDS_TWO = program("import torch", 'x = torch.ones(3, device="cuda:1")')
FAILS = program("import torch", CHOSEN, "torch.ones(3, device=device).reshape(2)")
CATCHES = program(
    "import torch",
    CHOSEN,
    "x = torch.ones(3, device=device)",
    "try:",
    "    y = x + torch.ones(3)",
    "except RuntimeError:",
    "    y = x + torch.ones(3, device=device)",
)


def claim(
    given: Program,
    place: str,
    related: tuple[tuple[str, str], ...] = (),
    worlds: tuple[World, ...] = (WITH_ONE,),
    walked: tuple[World, ...] = (),
    **changes: Any,
) -> Claim:
    """What a finding claims that stands at the first occurrence of a text in a program.

    It is a certain one of every machine with an accelerator, unless `changes` say something else.
    """

    def span(text: str) -> Span:
        start = given.text.index(text)
        return Span(start, start + len(text))

    finding = Finding(
        "DEV102",
        "mixed-devices",
        Severity.ERROR,
        "two devices meet",
        span(place),
        tuple(Related(span(text), said) for text, said in related),
        WITH_ONE.description,
    )
    seen = Seen(replace(finding, **changes), worlds, walked or worlds)
    return claims_of(given.text, (seen,))[0]
