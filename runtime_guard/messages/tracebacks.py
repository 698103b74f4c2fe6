"""Tracebacks as the program would have them: without the frames of this package."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runtime_guard.errors import DeviceMismatchError

if TYPE_CHECKING:
    from types import TracebackType

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
# What torch calls a function through that the compiler leaves alone, `inner` of `torch._compile`
# and `_fn` of `torch._dynamo.eval_frame`, and a mode through.
_AROUND_OURS = frozenset({"inner", "_fn", "handle_torch_function"})
# The virtual GPU calls torch, and raises what CUDA would: errors that end there are the program's,
# but for these, which torch does not raise.
_VIRTUAL = f"{_PACKAGE}virtual{os.sep}"
_FAULTS = (AssertionError, AttributeError, KeyError, NameError)


def print_without_our_frames() -> None:
    """Leave our frames out when the interpreter prints what has just been raised.

    The hook that is in place now, the program's own perhaps, is called with the shorter traceback.
    """
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        return

    def print_shortened(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        sys.excepthook = hook
        error.__traceback__ = after_our_start(traceback)
        shorten(error)
        sys.last_traceback = error.__traceback__
        try:
            hook(kind, error, error.__traceback__)
        except SystemExit:
            raise
        except BaseException as failure:  # noqa: BLE001 - a hook may fail in any way
            _tell_failure_of_hook(failure, error)

    sys.excepthook = print_shortened


def after_our_start(traceback: TracebackType | None) -> TracebackType | None:
    """What follows the frames that started the program; all of it where there are none."""
    rest = traceback
    while rest is not None and not _is_ours(rest):
        rest = rest.tb_next
    if rest is None:
        return traceback
    while rest is not None and _is_ours(rest):
        rest = rest.tb_next
    return rest


def shorten(error: BaseException) -> None:
    """Take our frames out of the tracebacks of an exception, and of those that led to it.

    Those of an exception that is a fault of ours stay.
    """
    for each in _chain(error):
        entries = list(_entries(each.__traceback__))
        if entries and not _is_our_fault(each, entries[-1]):
            each.__traceback__ = _linked([entry for entry in entries if not _is_machinery(entry)])


def _chain(error: BaseException) -> Iterator[BaseException]:
    waiting, seen = [error], set()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [link for link in (each.__cause__, each.__context__) if link is not None]


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _linked(entries: list[TracebackType]) -> TracebackType | None:
    following = None
    for entry in reversed(entries):
        entry.tb_next = following
        following = entry
    return following


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _is_our_fault(error: BaseException, last: TracebackType) -> bool:
    if isinstance(error, DeviceMismatchError) or not _is_ours(last):
        return False
    virtual = last.tb_frame.f_code.co_filename.startswith(_VIRTUAL)
    return not virtual or isinstance(error, _FAULTS)


def _is_machinery(entry: TracebackType) -> bool:
    """Whether it is ours, or torch's way into a function of ours."""
    following = entry.tb_next
    return _is_ours(entry) or (
        following is not None
        and entry.tb_frame.f_code.co_name in _AROUND_OURS
        and _is_machinery(following)
    )


def _tell_failure_of_hook(failure: BaseException, error: BaseException) -> None:
    """Say what the interpreter says when `sys.excepthook` itself raises."""
    shorten(failure)
    sys.stderr.write("Error in sys.excepthook:\n")
    sys.__excepthook__(type(failure), failure, failure.__traceback__)
    sys.stderr.write("\nOriginal exception was:\n")
    sys.__excepthook__(type(error), error, error.__traceback__)
