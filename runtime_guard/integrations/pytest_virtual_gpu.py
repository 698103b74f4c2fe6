"""Gives tests virtual GPUs: `pytest --virtual-gpu 2`, a marker and a fixture, `virtual_gpu`.

It comes with `runtime_guard.pytest_plugin`. pytest imports this module in every run, so whatever
needs torch waits until a test has imported it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runtime_guard.integrations.marked_run import MarkedRun
from runtime_guard.integrations.on_machine import ON_MACHINE, Kept, OnMachine
from runtime_guard.integrations.virtual_gpu_tally import RunTally, Unmodelled
from runtime_guard.settings import VirtualMachine, machine_from

if TYPE_CHECKING:
    from runtime_guard.virtual.block import VirtualGpu

NAME = "virtual_gpu"
COUNT_HELP = (
    "Import and run every test as though the machine had N CUDA devices, or one: tensors stay in "
    "host memory, each has a device, and what CUDA refuses raises CUDA's error. 0 is none. Write "
    "--virtual-gpu=1 where a path follows."
)
NAME_HELP = "The type of the virtual devices: cuda (the default), mps or xpu."
MEMORY_HELP = "The memory of each virtual device, in GB; what needs more is out of memory."
CUDA_HELP = (
    "The version of CUDA that torch is built for, as 12.8; by default that of torch itself, or of "
    "an installed torchvision, torchaudio or torchao."
)
CAPABILITY_HELP = "The compute capability of each virtual CUDA device, as 9.0 (8.0)."
REPORT_HELP = (
    "Write to FILE, as JSON, how many tests used a device, which failed with a device error, and "
    "what was met that the virtual GPU does not model."
)
MARKER_HELP = (
    "virtual_gpu(count=1, name='cuda', memory_gb=None, cuda=None, capability=None): run this test "
    "on virtual GPUs; without arguments on those of --virtual-gpu, or on one. virtual_gpu(False) "
    "runs it without."
)
REPORT = f"{NAME}_report"
SETTINGS = (NAME, f"{NAME}_name", f"{NAME}_memory", f"{NAME}_cuda", f"{NAME}_capability")
"""What may be said of the machine of a run, as an option and as an ini option."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--virtual-gpu` and its companions, each as an ini option too."""
    add = parser.getgroup("virtual GPU").addoption
    count, name, memory, cuda, capability = map(_option, SETTINGS)
    add(count, nargs="?", const="1", type=_number, metavar="N", help=COUNT_HELP)
    add(name, metavar="NAME", help=NAME_HELP)
    add(memory, metavar="GB", help=MEMORY_HELP)
    add(cuda, metavar="VERSION", help=CUDA_HELP)
    add(capability, metavar="X.Y", help=CAPABILITY_HELP)
    add(_option(REPORT), metavar="FILE", dest=REPORT, help=REPORT_HELP)
    for setting in SETTINGS:
        parser.addini(setting, f"What {_option(setting)} is where it is not given.", default="")


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config,
) -> Generator[None, object, object]:
    """Let the modules of fixtures find the machine of the run when they are imported."""
    with OnMachine(machine_of(early_config, early_config.known_args_namespace)):
        return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and what gives tests their machine."""
    config.addinivalue_line("markers", MARKER_HELP)
    run = VirtualRun(machine_of(config, config.option), report_of(config))
    config.pluginmanager.register(run, "runtime_guard.virtual_run")


def report_of(config: pytest.Config) -> Path | None:
    """The file of the report, if one is asked for.

    Raises:
        pytest.UsageError: its folder is not there.
    """
    given: str | None = config.getoption(REPORT)
    if given is None:
        return None
    path = Path(given).absolute()
    if not path.parent.is_dir():
        raise pytest.UsageError(f"{_option(REPORT)}: there is no folder {path.parent}")
    return path


def machine_of(config: pytest.Config, given: argparse.Namespace) -> VirtualMachine | None:
    """The machine of the run, as its options say, and where they say nothing its ini options.

    Raises:
        pytest.UsageError: one of them has a value that it cannot have.
    """
    texts: list[str] = []
    said: list[str] = []
    for setting in SETTINGS:
        text: str | None = getattr(given, setting)
        texts.append(str(config.getini(setting)) if text is None else text)
        said.append(f"ini option {setting}" if text is None else _option(setting))
    if not texts[0] and (idle := [name for name in said[1:] if name.startswith("--")]):
        raise pytest.UsageError(f"{idle[0]} says nothing without {_option(NAME)}")
    try:
        return machine_from(texts, said)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def _option(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


def _number(text: str) -> str:
    if not re.fullmatch(r"\d+", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number of devices: write --virtual-gpu=1 where a path follows"
        )
    return text


class VirtualRun(MarkedRun[OnMachine]):
    """The hooks of a run; under xdist each worker has its machines."""

    def __init__(self, machine: VirtualMachine | None, report: Path | None) -> None:
        super().__init__(ON_MACHINE)
        self.machine = machine
        self.tally = RunTally()
        self._report = report
        self._unmodelled = Unmodelled()
        self._kept = Kept()

    def pytest_report_header(self) -> str | None:
        """Say which devices tests find."""
        return None if self.machine is None else f"virtual GPU: {self.machine}"

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Let test modules, and what decides there whether a test is skipped, find the machine."""
        with OnMachine(self.machine, self._kept):
            return (yield)

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Explain the error, and count it if it is about devices."""
        super().pytest_runtest_makereport(item, call)
        under = item.stash.get(ON_MACHINE, None)
        if call.excinfo is not None and under is not None and under.gpu is not None:
            self.tally.add_error(item.nodeid, call.excinfo.value)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what a worker of xdist has met."""
        content = getattr(node, "workeroutput", {}).get(NAME)
        if content is not None:
            self.tally.add(content)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let torch find the machine that there is again, and tell what was met."""
        self._kept.end()
        self.tally.unmodelled.update(self._unmodelled.counts())
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[NAME] = self.tally.content

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was met, and write the report."""
        if self.tally.tests:
            terminalreporter.write_line(f"virtual GPU: {self.tally}")
        if self._report is not None:
            try:
                self.tally.write(self._report, str(self.machine or "as marked"))
            except OSError as error:
                terminalreporter.write_line(f"virtual GPU: no report: {error}", red=True)

    def effect_for(self, item: pytest.Item) -> OnMachine:
        """The machine of a test: its marker's, or the run's, or the one that its fixture needs."""
        marker = item.get_closest_marker(NAME)
        if marker is None:
            wanted = NAME in getattr(item, "fixturenames", ())
            return self._on(self.machine or (VirtualMachine() if wanted else None))
        if not marker.args and not marker.kwargs:
            return self._on(self.machine or VirtualMachine())
        try:
            return self._on(virtual_gpu(*marker.args, **marker.kwargs))
        except (TypeError, ValueError) as error:
            return OnMachine(None, refused=f"marker {NAME}: {error}")

    def _on(self, machine: VirtualMachine | None) -> OnMachine:
        return OnMachine(machine, self._kept, tally=self.tally)


def virtual_gpu(
    count: int | bool = 1,
    name: str = "cuda",
    memory_gb: float | None = None,
    cuda: str | None = None,
    capability: str | None = None,
) -> VirtualMachine | None:
    """The machine that the arguments of the marker of this name ask for; False is none."""
    if count is False:
        return None
    return VirtualMachine(1 if count is True else count, name, memory_gb, cuda, capability)


@pytest.fixture(name=NAME)
def virtual_gpu_of_a_test(request: pytest.FixtureRequest) -> Iterator[VirtualGpu]:
    """Run the test on virtual GPUs: those of its marker, of --virtual-gpu, or one CUDA device.

    They are there for the whole test, its other fixtures too. The value is what
    runtime_guard.virtual_gpu returns: its devices are virtual_gpu.devices.
    """
    from runtime_guard import virtual_gpu

    # To import it was to import torch, and to begin.
    under = request.node.stash.get(ON_MACHINE, None)
    if under is not None and under.gpu is not None:
        yield under.gpu
    else:
        with virtual_gpu() as gpu:
            yield gpu
