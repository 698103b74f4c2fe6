"""A pseudo terminal on which progress is shown, for the tests of both packages."""

from __future__ import annotations

import os
import re
import sys
from threading import Thread

import pytest


class Screen:
    """A pseudo terminal that takes the place of standard error, and what was written to it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._master, slave = os.openpty()
        self.stream = os.fdopen(slave, "w", encoding="utf-8")
        self._read: list[bytes] = []
        self._reader = Thread(target=self._take, daemon=True)
        self._reader.start()

    def _take(self) -> None:
        try:
            while data := os.read(self._master, 65536):
                self._read.append(data)
        except OSError:  # Linux says so at the end.
            pass

    def show(self) -> None:
        """Show what is written from here on: pytest takes standard error anew for each test."""
        self._monkeypatch.setattr(sys, "stderr", self.stream)

    def text(self) -> str:
        """All that was written, once nothing more can be."""
        self.stream.close()
        self._reader.join()
        os.close(self._master)
        return re.sub(r"\x1b\[[0-9;?]*[lhm]", "", b"".join(self._read).decode())


def screen_of(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A terminal of 100 columns, on which nothing in the environment forbids progress."""
    pytest.importorskip("pty", reason="there are no pseudo terminals")
    for name in ("CI", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return Screen(monkeypatch)
