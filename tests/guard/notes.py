"""The note of an explained error, wherever this Python keeps it."""

import re

from runtime_guard.messages.explain import notes_of
from runtime_guard.messages.message import HEAD


def note_of(error: BaseException) -> str:
    """The one note; Python before 3.11 has it in the message, after torch's own words."""
    noted: list[str] = [
        *notes_of(error),
        *re.findall(rf"^{HEAD}.*", str(error), re.DOTALL | re.MULTILINE),
    ]
    (note,) = noted
    return note
