"""What every command line of runtime_guard says where it cannot be carried out."""

from __future__ import annotations

import argparse
from typing import NoReturn

BAD_USAGE = 2
"""The exit status."""


class UsageError(Exception):
    """The command cannot be carried out; the message says why, in one line."""


class Parser(argparse.ArgumentParser):
    """A parser that answers in one line."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise UsageError(message)
