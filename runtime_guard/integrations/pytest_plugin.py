"""Guards the tests of a project: `pytest --device-guard`, a marker and a fixture, `device_guard`.

pytest imports this module in every run, so whatever needs torch waits until a test has imported it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from runtime_guard.integrations.marked_run import MarkedRun

if TYPE_CHECKING:
    from runtime_guard.hooks.checking import Checking
    from runtime_guard.hooks.guard import Guard
    from runtime_guard.mismatch import Mismatch
    from runtime_guard.settings import Settings

NAME = "device_guard"
ACTIONS = ("raise", "warn", "move")
MODES = (*ACTIONS, "explain", "off")

OPTION_HELP = (
    "Guard every test: a module that is given a tensor on another device than its own makes the "
    "test fail (raise, the default), or is reported in the summary (warn; move: and the tensor is "
    "moved). explain only explains the device errors that torch raises; off is off. Write "
    "--device-guard=raise where a path follows."
)
MARKER_HELP = (
    "device_guard(action, *, steps, every, only, skip, meta): guard this test, with the options of "
    "runtime_guard.guard; device_guard(False) guards it not."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--device-guard` and the ini option `device_guard`."""
    group = parser.getgroup("device guard")
    group.addoption(
        "--device-guard",
        dest=NAME,
        nargs="?",
        const="raise",
        type=_mode,
        metavar="|".join(MODES),
        help=OPTION_HELP,
    )
    parser.addini(NAME, "What --device-guard is where it is not given.", default="off")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and what guards the tests."""
    config.addinivalue_line("markers", MARKER_HELP)
    try:
        mode = config.getoption(NAME) or _mode(str(config.getini(NAME)))
    except argparse.ArgumentTypeError as error:
        raise pytest.UsageError(f"ini option {NAME}: {error}") from error
    config.pluginmanager.register(GuardedRun(mode), "runtime_guard.run")


def _mode(text: str) -> str:
    if text not in MODES:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(MODES)}")
    return text


class Watch:
    """What guards one test: what its marker asks for, and the handles of its fixture.

    Attributes:
        mode: an action, `explain` or `off`.
        refused: why the test's marker makes no sense; empty if it does.
    """

    def __init__(self, mode: str, settings: Settings | None = None, *, refused: str = "") -> None:
        self.mode = mode
        self.refused = refused
        self._settings = settings
        self._handles: list[Checking] = []

    def __enter__(self) -> Watch:
        self._stack = ExitStack()
        if self._settings is not None:
            from runtime_guard.launcher.torch_import import once_torch_is_there

            finder = once_torch_is_there(partial(self._install, self._settings))
            self._stack.callback(finder.remove)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _install(self, settings: Settings) -> None:
        from runtime_guard import install

        handle = install(**asdict(settings))
        self._stack.callback(handle.remove)
        self._handles.append(handle)

    def guard(self, model: Any, **options: Any) -> Guard:
        """Guard a model until the end of the test's fixture."""
        from runtime_guard import guard

        handle = guard(model, **options)
        self._handles.append(handle)
        return handle

    def explain(self, error: BaseException) -> None:
        """Explain what made the test fail, if it is about devices."""
        if (self.mode != "off" or self._handles) and "torch" in sys.modules:
            from runtime_guard.messages.explain import annotate

            annotate(error)

    def unraised(self) -> list[Mismatch]:
        """What was found and did not make the test fail, each once."""
        handles = [handle for handle in self._handles if handle.settings.action != "raise"]
        return list(dict.fromkeys(found for handle in handles for found in handle.mismatches))


WATCH = pytest.StashKey[Watch]()


class GuardedRun(MarkedRun[Watch]):
    """The hooks of a run; under xdist each worker guards, and the reports inform the controller."""

    def __init__(self, mode: str) -> None:
        super().__init__(WATCH)
        self.mode = mode
        self._reported: dict[str, list[str]] = {}

    def pytest_report_header(self) -> str | None:
        """Say that tests are guarded."""
        return None if self.mode == "off" else f"device guard: {self.mode}"

    def effect_for(self, item: pytest.Item) -> Watch:
        """What guards a test."""
        return watch_for(item, self.mode)

    @pytest.hookimpl(wrapper=True, specname="pytest_runtest_makereport")
    def pytest_device_guard_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let the report of the teardown say what was found in the test."""
        report = yield
        watch = item.stash.get(WATCH, None)
        if report.when == "teardown" and watch is not None and (found := watch.unraised()):
            from runtime_guard.messages.message import render

            vars(report)[NAME] = render(found)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report says; the controller of xdist gets it from its workers' reports."""
        text = vars(report).get(NAME)
        if text:
            self._reported.setdefault(text, []).append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Report what was found and did not make a test fail."""
        if self._reported:
            terminalreporter.section("device guard")
        for text, tests in self._reported.items():
            more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
            terminalreporter.write_line(f"{tests[0]}{more}", bold=True)
            terminalreporter.write_line(text)


def watch_for(item: pytest.Item, mode: str) -> Watch:
    """What the test's nearest marker asks for, or else the run."""
    marker = item.get_closest_marker(NAME)
    if marker is None and mode not in ACTIONS:
        return Watch(mode)
    try:
        asked = device_guard(*marker.args, **marker.kwargs) if marker else {"action": mode}
        return _watch(asked.pop("action"), mode, asked)
    except (TypeError, ValueError) as error:
        return Watch("off", refused=f"marker {NAME}: {error}")


def _watch(action: object, mode: str, options: dict[str, Any]) -> Watch:
    if action is True:
        action = "raise" if mode == "off" else mode
    elif action is False:
        action = "off"
    if not isinstance(action, str) or action not in MODES:
        raise ValueError(f"action is {action!r}: expected one of {', '.join(MODES)}")
    from runtime_guard.settings import settings_from

    checks = action in ACTIONS
    settings = settings_from(action=action if checks else "raise", **options)
    return Watch(action, settings if checks else None)


def device_guard(
    action: str | bool = True,
    *,
    steps: int | None = None,
    every: int = 1,
    only: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    meta: bool = False,
) -> dict[str, Any]:
    """The arguments of the marker of this name, by name."""
    return {
        "action": action,
        "steps": steps,
        "every": every,
        "only": only,
        "skip": skip,
        "meta": meta,
    }


@pytest.fixture(name=NAME)
def guards_of_a_test(request: pytest.FixtureRequest) -> Iterator[Callable[..., Guard]]:
    """Guard models in a test: device_guard(model, **options), as runtime_guard.guard.

    They are guarded until the end of the test.
    """
    with ExitStack() as stack:
        watch = request.node.stash.setdefault(WATCH, Watch("off"))

        def guard(model: Any, **options: Any) -> Guard:
            handle: Guard = watch.guard(model, **options)
            stack.callback(handle.remove)
            return handle

        yield guard
