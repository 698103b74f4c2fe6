"""How sure a finding has to be to be reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from devicelint.finding import Certainty

Sureness = Literal["certain", "contract", "possible"]
SURENESS: Mapping[Sureness, frozenset[Certainty]] = {
    "certain": frozenset({Certainty.CERTAIN}),
    "contract": frozenset(Certainty) - {Certainty.POSSIBLE},
    "possible": frozenset(Certainty),
}
"""What is reported, by the least that is asked for."""
