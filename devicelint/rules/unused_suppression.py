"""A comment suppresses nothing."""

from __future__ import annotations

from devicelint.finding import Severity
from devicelint.rules._base import Rule
from devicelint.suppression import unused


class UnusedSuppression(Rule):
    """`# noqa: DEV101` where DEV101 finds nothing; found once all other rules have looked."""

    code = unused.CODE
    name = unused.NAME
    severity = Severity.NOTE
    summary = "A comment silences what is not found"
