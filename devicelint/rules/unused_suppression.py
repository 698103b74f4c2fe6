"""A comment suppresses nothing."""

from __future__ import annotations

from devicelint.finding import Severity
from devicelint.rules._base import Rule
from devicelint.suppression import unused


class UnusedSuppression(Rule):
    """`# noqa: DEV101` on a line without such a finding; reported after all other rules."""

    code = unused.CODE
    name = unused.NAME
    severity = Severity.NOTE
    summary = "A suppression comment suppresses no finding"
