"""What is wrong with a command line."""

from __future__ import annotations


class UsageError(Exception):
    """The command line makes no sense; the message says why, in one line."""
