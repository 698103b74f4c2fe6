"""Says beside torch's own words what was on which device, and what to write about it.

The exception stays the one it was: it gets a note, and goes on. What this needs of torch is
imported only once there is an error to explain.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from runtime_guard.errors import DeviceMismatchError
from runtime_guard.messages.message import HEAD
from runtime_guard.messages.texts import text_of
from runtime_guard.messages.tracebacks import shorten

# As long as no chain of causes is.
_LONGEST = 100
_GROUP: Any = getattr(builtins, "BaseExceptionGroup", ())


def annotate(error: BaseException) -> bool:
    """Add a note to a device error, once: to the innermost in the chain of its causes.

    Changes nothing about any other exception, and never raises.

    Returns:
        Whether a note was added.
    """
    added = False
    with suppress(Exception):
        if isinstance(error, _GROUP):
            for part in error.exceptions:
                added = annotate(part) or added
        chain = list(_causes(error))
        found = [each for each in chain if is_device_error(each)]
        if found and not any(isinstance(each, DeviceMismatchError) for each in found):
            return _explain(found[-1]) or added
    return added


def prepare(error: BaseException) -> None:
    """Explain an exception, and let it show as if nothing of ours had been in between."""
    annotate(error)
    with suppress(Exception):
        shorten(error)


def is_device_error(error: BaseException) -> bool:
    """Whether an exception says that something is on the wrong device."""
    if isinstance(error, DeviceMismatchError):
        return True
    with suppress(Exception):
        return text_of(error) is not None
    return False


def notes_of(error: BaseException) -> list[str]:
    """The notes that an exception has, which Python before 3.11 does not print."""
    return [note for note in getattr(error, "__notes__", ()) if isinstance(note, str)]


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and what a traceback prints before it, innermost last."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen and len(seen) < _LONGEST:
        seen.add(id(cause))
        yield cause
        context = None if cause.__suppress_context__ else cause.__context__
        cause = cause.__cause__ or context


def _explain(error: BaseException) -> bool:
    text = text_of(error)
    if text is None or _is_explained(error):
        return False
    from runtime_guard.messages.explanation import explanation

    _add(error, explanation(error, text))
    return True


def _is_explained(error: BaseException) -> bool:
    """Whether it has its note, or is the text of an exception of another process that had."""
    said = [str(error), *notes_of(error)]
    return any(HEAD in part or f"{DeviceMismatchError.__name__}: " in part for part in said)


def _add(error: BaseException, note: str) -> None:
    add_note = getattr(error, "add_note", None)
    if add_note is not None:
        add_note(note)
    elif len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}\n{note}",)
    else:
        # Python 3.10 would print neither: whoever prints the exception may look for it here.
        error.__notes__ = [*notes_of(error), note]  # type: ignore[attr-defined]
