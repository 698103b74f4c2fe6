"""Imported, once, by every Python of which the expressions are to be noted, as it starts.

It leaves no name behind that the program could import: its own `benchmarks` package, say, comes
from where that program has it.
"""

import os
import sys
from types import ModuleType

FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH120 - pathlib would be imported
OURS = ("benchmarks", "benchmarks.agreement")
WITH_A_WORD = ("-W", "-X", "--check-hash-based-pycs")
"""Options of Python that are followed by a word."""


def _begin() -> None:
    root = FOLDER
    for _ in range(4):
        root = os.path.dirname(root)  # noqa: PTH120 - as above
    for name in OURS:
        module = sys.modules[name] = ModuleType(name)
        module.__path__ = [os.path.join(root, *name.split("."))]  # noqa: PTH118 - as above
    try:
        from benchmarks.agreement.recording.starting import begin

        chosen = begin()
    finally:
        for name in OURS:
            sys.modules.pop(name, None)
    script = _script()
    if chosen is not None and script is not None and chosen.holds(sys.orig_argv[script]):
        _launch(script)


def _script() -> "int | None":
    """Where the command line of this Python names a script, if it does."""
    words = iter(enumerate(sys.orig_argv[1:], 1))
    for at, word in words:
        if word in WITH_A_WORD:
            next(words, None)
        elif not word.startswith("-"):
            return at
        elif word.startswith(("-c", "-m")) or word == "-":
            return None
    return None


def _launch(script: int) -> None:
    """Python itself compiles a script that it is given: let a launcher do it, in its place."""
    launcher = os.path.join(os.path.dirname(FOLDER), "launching.py")  # noqa: PTH118, PTH120
    words = sys.orig_argv
    os.execv(sys.executable, [words[0], *words[1:script], launcher, *words[script:]])


if os.environ.get("DEVICE_RECORD_INTO"):
    _begin()
