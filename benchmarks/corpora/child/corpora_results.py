"""A plugin of pytest that writes down, line by line, what became of each test.

A line is written when a test is done, so that a run that is ended has told of those before.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

FILE = "CORPORA_RESULTS"
SEVERITY = ("passed", "skipped", "failed", "error")

_tests: dict[str, dict[str, Any]] = {}


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be imported is an error of its own."""
    if report.failed:
        text = str(report.longrepr).strip().splitlines()
        _write({"test": report.nodeid, "outcome": "error", "told": text[-1] if text else ""})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give a test its line."""
    began = time.monotonic()
    line = _tests[item.nodeid] = {"test": item.nodeid, "outcome": "passed", "told": ""}
    try:
        return (yield)
    finally:
        line["seconds"] = round(time.monotonic() - began, 3)
        _write(_tests.pop(item.nodeid))


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Note the memory that the test used, before its machine is gone."""
    _tests[item.nodeid]["bytes"] = _peak()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note what became of a phase of the test, and whether an error is one about devices."""
    report = yield
    line = _tests.get(item.nodeid)
    if line is None:
        return report
    outcome: str = report.outcome
    if outcome == "failed" and call.when != "call":
        outcome = "error"
    if SEVERITY.index(outcome) > SEVERITY.index(line["outcome"]):
        line["outcome"] = outcome
        if call.excinfo is not None:
            line["told"] = call.excinfo.exconly(tryshort=True)[:2000]
            line["device_error"] = _is_about_devices(call.excinfo.value)
    return report


def _is_about_devices(error: BaseException) -> bool:
    from runtime_guard.messages.explain import is_device_error

    return any(is_device_error(each) for each in _chain(error))


def _chain(error: BaseException) -> list[BaseException]:
    """The exception and those that it came from."""
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _peak() -> int:
    import torch

    if not torch.cuda.is_available():
        return 0
    return sum(
        torch.cuda.max_memory_allocated(device) for device in range(torch.cuda.device_count())
    )


def _write(line: dict[str, Any]) -> None:
    with Path(os.environ[FILE]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
