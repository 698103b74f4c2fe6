"""What scripts find around them, where they ask for more than what is made up for all."""

from __future__ import annotations

from collections.abc import Mapping

ENVIRONMENT: Mapping[str, Mapping[str, str]] = {
    "old gym": {"ADOPTION_OLD_GYM": "1"},
}
"""What the `inputs` of a script put into its environment."""

NAMES = "emma olivia jack quinn wyatt xavier zoe david felix gwen bob isabella charlotte harper kym"

FILES: Mapping[str, tuple[str, str]] = {
    "names": ("names.txt", "\n".join(NAMES.split() * 20) + "\n"),
}
"""Which file they put beside it, and what it holds."""
