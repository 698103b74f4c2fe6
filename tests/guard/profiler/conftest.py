"""Reports are as wide as they are for other programs, whatever the terminal of the tests says."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _without_a_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
