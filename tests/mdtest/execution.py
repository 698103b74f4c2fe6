"""Executes a `py run` block on the virtual GPU: torch must object where the page says."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import FrameType, ModuleType
from typing import Any

from tests.mdtest.expectations import Expectation
from tests.mdtest.forgiving import FORGIVE, REACH, forgiving, statements
from tests.mdtest.page import Run
from tests.mdtest.scripts import as_a_script

A_RUN = Run()
OBJECTIONS = (RuntimeError, TypeError, ValueError, AttributeError, AssertionError)
"""What torch raises about devices; a NameError is no finding's."""
_DEVICE = re.compile(r"\b(?:cpu|cuda|mps|xpu|device)|no attribute 'to'", re.IGNORECASE)
_QUOTED = re.compile(r"'(\w+)'(?!.*')")


@dataclass(frozen=True)
class Difference:
    """A line that did not do when executed what the page says of it."""

    line: int
    expected: str
    actual: str


class Execution:
    """One run of a block.

    Attributes:
        raised: by marked line, the first error that its statement raised.
        revealed: by line, the devices of what `reveal_device` was given, and what was said of it
            that is so.
        reached: the lines of the statements that it came to.
        failure: the line and the text of the error that ended the run; None where none did.
    """

    def __init__(self, announced: Iterable[Expectation] = ()) -> None:
        self.raised: dict[int, BaseException] = {}
        self.revealed: dict[int, list[tuple[str, frozenset[str]]]] = {}
        self.reached: set[int] = set()
        self.failure: tuple[int, str] | None = None
        self._lost: set[str] = set()
        self._incomplete: set[FrameType] = set()
        self._known: list[BaseException] = []
        self._said: dict[int, list[str]] = {}
        for one in announced:
            if one.kind == "revealed":
                self._said.setdefault(one.line, []).append(one.message or "")

    def forgive(self, own: range, marks: tuple[int, ...], names: tuple[str, ...]) -> bool:
        """Whether the error that is handled was expected of these lines, or follows from one."""
        _, error, frames = sys.exc_info()
        assert error is not None
        assert frames is not None
        if frames.tb_lineno not in own:
            return False
        if marks and isinstance(error, OBJECTIONS):
            for line in marks:
                self.raised.setdefault(line, error)
        elif not self._follows(error, frames.tb_frame):
            return False
        self._known.append(error)
        self._lost.update(names)
        self._incomplete.add(frames.tb_frame)
        return True

    def _follows(self, error: BaseException, frame: FrameType) -> bool:
        """Whether it is an error noted further in, or comes of what one has left undone.

        That is the want of a name, or anything but devices in a function that went on.
        """
        if any(error is known for known in self._known):
            return True
        if isinstance(error, (NameError, AttributeError)):
            wanted = _QUOTED.search(str(error))
            return wanted is not None and wanted[1] in self._lost
        went_on = frame in self._incomplete and frame.f_code.co_name != "<module>"
        return went_on and not _names_a_device(error)

    def reveal(self, value: Any) -> Any:
        from tests.mdtest.revealing import devices_of, is_met

        frame = sys._getframe(1)
        met = [one for one in self._said.get(frame.f_lineno, ()) if is_met(one, value, frame)]
        found = " and ".join(sorted(devices_of(value))) or "nowhere"
        self.revealed.setdefault(frame.f_lineno, []).append((found, frozenset(met)))
        return value


def differences(
    code: str, path: str, expectations: Iterable[Expectation], run: Run = A_RUN
) -> Iterator[Difference]:
    """Where the block, executed, does something else than its page announces."""
    announced = [one for one in expectations if not one.todo]
    if not announced:
        yield from _not_innocent(code, path, run)
        return
    done = execute(code, path, run, announced)
    where = machine(run.devices)
    yield from _ended(done, where)
    for line in sorted({one.line for one in announced} - done.reached):
        yield Difference(line, f"is reached {where}", "nothing comes to this line")
    for one in raising_in(announced, run):
        error = done.raised.get(one.line)
        if error is None:
            yield Difference(one.line, f"raises {where}", "nothing is raised")
        elif not _objects(error, one):
            expected = str(one) if one.kind == "raises" else f"an error about devices {where}"
            yield Difference(one.line, expected, f"{type(error).__name__}: {error}")
    yield from _misplaced(done, announced, where)
    if any(len(places) > 1 for places in _revealed_in(announced).values()):
        other = execute(code, path, replace(run, devices=0), announced)
        yield from _misplaced(other, announced, machine(0))
    if not run.devices:
        yield from _ended(execute(code, path, replace(run, devices=2)), machine(2))


def _not_innocent(code: str, path: str, tagged: Run) -> Iterator[Difference]:
    """Why the silence about a block proves nothing: it fails somewhere, or is not reached."""
    unreached = set(statements(code))
    machines = (tagged.devices,) if tagged.alone else (0, 2)
    for devices in machines:
        done = execute(code, path, replace(tagged, devices=devices))
        yield from _ended(done, machine(devices))
        unreached -= done.reached if done.failure is None else unreached
    for line in sorted(unreached):
        yield Difference(line, "is reached on some machine", "nothing comes to this line")


def _ended(done: Execution, where: str) -> Iterator[Difference]:
    if done.failure is not None:
        yield Difference(done.failure[0], f"runs {where}", done.failure[1])


def _objects(error: BaseException, one: Expectation) -> bool:
    """Whether an error is the one announced: it has the words, or else names a device."""
    if one.kind == "raises" and one.message:
        return one.message in str(error)
    return _names_a_device(error)


def _names_a_device(error: BaseException) -> bool:
    return _DEVICE.search(str(error)) is not None


def _misplaced(
    done: Execution, announced: Iterable[Expectation], where: str
) -> Iterator[Difference]:
    """Where the places that a line announces are not those where its values lie."""
    for line, places in _revealed_in(announced).items():
        for found, met in done.revealed.get(line, ()):
            if not met:
                yield Difference(line, f"{' or '.join(sorted(places))} {where}", found)


def _revealed_in(announced: Iterable[Expectation]) -> dict[int, set[str]]:
    said: dict[int, set[str]] = {}
    for one in announced:
        if one.kind == "revealed":
            said.setdefault(one.line, set()).add(one.message or "")
    return said


def machine(devices: int) -> str:
    """The words for a machine with so many devices."""
    return f"on {devices} virtual devices" if devices else "without an accelerator"


def raising_in(announced: Iterable[Expectation], run: Run) -> list[Expectation]:
    """The lines that raise: those marked `# raises`, or else where an error is found.

    Without an accelerator a warning counts like an error: it says what fails there.
    """
    marked = tuple(announced)
    if any(one.is_of_torch for one in marked):
        return [one for one in marked if one.kind == "raises"]
    kinds = ("error",) if run.devices else ("error", "warning")
    return [one for one in marked if one.kind in kinds]


def execute(
    code: str, path: str, run: Run = A_RUN, announced: Sequence[Expectation] = ()
) -> Execution:
    """Run code as a script, and what others do before and with it.

    A statement on a line that raises is noted, and the run goes on after it.
    """
    done = Execution(announced)
    tree = forgiving(f"{code}\n{run.then}", {one.line for one in raising_in(announced, run)})
    script = ModuleType("__main__")
    vars(script)[FORGIVE], vars(script)[REACH] = done.forgive, done.reached.update
    vars(script)["reveal_device"] = done.reveal
    with as_a_script(script, path, run):
        try:
            exec(compile(tree, path, "exec"), vars(script))
        except SystemExit:
            pass
        except Exception as error:  # noqa: BLE001 - whatever ends it is a difference
            done.failure = (_line(error, path), f"{type(error).__name__}: {error}")
    return done


def _line(error: BaseException, path: str) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 1 for frame in frames if frame.filename == path]
    return lines[-1] if lines else 1
