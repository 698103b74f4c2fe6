"""A plug-in of pytest: which marked moves each test came to, and what became of it.

It writes a line of JSON for each test to the file that `RECORDED_TESTS` names. A marked source
calls the built-in function `MADE` with the number of a place and the value that is there.
"""

from __future__ import annotations

import builtins
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from runtime_guard.mutation.marking import MADE

RECORD = "RECORDED_TESTS"

_reached: dict[int, set[str]] = {}


def where(value: Any) -> str:
    """The type of the device of a value; `""` where it has none of its own."""
    if isinstance(value, torch.nn.Module):
        value = next(value.parameters(), None)
    if isinstance(value, str | torch.device):
        return str(value).partition(":")[0]
    device = getattr(value, "device", None)
    return device.type if isinstance(device, torch.device) else ""


def _made(place: int, value: Any) -> Any:
    _reached.setdefault(place, set()).add(where(value))
    return value


setattr(builtins, MADE, _made)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Write what the test came to, once it is torn down or did not pass."""
    report = yield
    if report.when == "teardown" or not report.passed:
        reached = {place: sorted(devices) for place, devices in _reached.items()}
        line = {"test": item.nodeid, "passed": report.passed, "reached": reached}
        line["error"] = report.longreprtext[-2000:] if report.failed else ""
        _reached.clear()
        with Path(os.environ[RECORD]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return report
