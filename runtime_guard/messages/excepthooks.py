"""Explains the device errors that nobody catches: before Python, IPython or a child prints them."""

from __future__ import annotations

import multiprocessing.process
import sys
import threading
from typing import TYPE_CHECKING, Any

from runtime_guard.lines import interactive_shell
from runtime_guard.messages.explain import notes_of, prepare
from runtime_guard.messages.handle import Handle
from runtime_guard.messages.message import HEAD
from runtime_guard.patch import Link

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

_SPAWNED = ("torch.multiprocessing.spawn", "_wrap")


def explain() -> Handle:
    """Explain device errors wherever they end uncaught, at no cost to what runs until then.

    In this process and its threads, in the cells of IPython, and in processes that
    `multiprocessing` and `torch.multiprocessing` start. The exceptions stay what they are, and
    get a note.

    Returns:
        A handle: `remove()` takes it back. Errors that leave a `with` block, or a function that
        the handle decorates, are explained too.
    """
    return Explanations().attach()


class Explanations(Handle):
    """The handle of `explain`."""

    def __init__(self) -> None:
        self._links: list[Link] = []
        self._lock = threading.Lock()

    def attach(self) -> Self:
        """Put the hooks in place, unless they are."""
        with self._lock:
            if not self._links:
                process = multiprocessing.process.BaseProcess
                self._links = [
                    Link(sys, "excepthook", _explain_first),
                    Link(threading, "excepthook", _explain_first_in_thread),
                    Link(process, "start", _start_explained),
                    Link(process, "_bootstrap", _run_explained),
                ]
                shell = interactive_shell()
                if shell is not None:
                    self._links.append(Link(shell, "showtraceback", _explain_first_in_shell))
        return self

    def remove(self) -> None:
        """Give every place back."""
        with self._lock:
            while self._links:
                self._links.pop().remove()


class Explained:
    """A function that another process runs; it travels there with its explanations."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, and explain what it raises."""
        try:
            return self.function(*args, **kwargs)
        except Exception as error:
            caught = error.__traceback__
            prepare(error)
            if caught is not None and caught is not error.__traceback__:
                # Python 3.10 raises again from where it was caught: here, and on as shortened.
                caught.tb_next = error.__traceback__
            raise


def _explain_first(previous: Callable[..., Any], *raised: Any) -> None:
    error = raised[1] if len(raised) > 1 else None
    if isinstance(error, BaseException):
        prepare(error)
        if len(raised) > 2 and raised[2] is not None:
            raised = (*raised[:2], error.__traceback__, *raised[3:])
    previous(*raised)
    _print_notes(error)


def _explain_first_in_thread(previous: Callable[..., Any], raised: Any) -> None:
    error = raised.exc_value
    if isinstance(error, BaseException):
        prepare(error)
        values = (raised.exc_type, error, error.__traceback__, raised.thread)
        raised = threading.ExceptHookArgs(values)
    previous(raised)
    _print_notes(error)


def _explain_first_in_shell(
    previous: Callable[..., Any], exc_tuple: Any = None, *args: Any, **kwargs: Any
) -> Any:
    error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
    if isinstance(error, BaseException):
        prepare(error)
        if exc_tuple:
            exc_tuple = (exc_tuple[0], error, error.__traceback__)
    return previous(exc_tuple, *args, **kwargs)


def _start_explained(previous: Callable[..., Any], process: Any) -> Any:
    """Explain in the child: what its parent gets is only the text of its error."""
    target, args = getattr(process, "_target", None), getattr(process, "_args", ())
    if (getattr(target, "__module__", ""), getattr(target, "__name__", "")) == _SPAWNED:
        # It catches what the function raises, which is its first argument.
        if args and not isinstance(args[0], Explained):
            process._args = (Explained(args[0]), *args[1:])
    elif target is not None and not isinstance(target, Explained):
        process._target = Explained(target)
    return previous(process)


def _run_explained(previous: Callable[..., Any], process: Any, *args: Any, **kwargs: Any) -> Any:
    """In the child, where a class of the user's may have a `run` of its own."""
    process.run = Explained(process.run)
    return previous(process, *args, **kwargs)


def _print_notes(error: object) -> None:
    """What Python before 3.11 does not print, and the text of the error has not."""
    if sys.version_info < (3, 11) and isinstance(error, BaseException) and sys.stderr is not None:
        for note in notes_of(error):
            if note.startswith(HEAD):
                sys.stderr.write(f"{note}\n")
