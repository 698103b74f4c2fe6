"""Which devicelint, which Python and which libcst found something: others may find other things."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from devicelint.rule_index import plugged_in
from devicelint.text.hashing import digest

_FORMAT = 1
"""Of what is written; another one is not read."""


def version() -> str:
    """Return the name of what is remembered by this installation: files that others do not read."""
    parts = (str(_FORMAT), sys.version, sys.platform, _libcst(), plugged_in(), *_modules())
    source = "\n".join(parts)
    return digest(source.encode())


def _modules() -> Iterator[str]:
    """The modules and data of devicelint, so that a changed checkout is another version."""
    waiting = [os.path.dirname(os.path.dirname(__file__))]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.path):
                if entry.name.endswith((".py", ".pyi")):
                    status = entry.stat()
                    yield f"{entry.path} {status.st_mtime_ns} {status.st_size}"
                elif "." not in entry.name and entry.name != "__pycache__":
                    waiting.append(entry.path)


def _libcst() -> str:
    """What libcst's own module says of its version, without importing libcst."""
    spec = find_spec("libcst")
    if spec is not None and spec.origin is not None:
        source = os.path.join(os.path.dirname(spec.origin), "_version.py")
        if os.path.isfile(source):
            with open(source, encoding="utf-8") as file:
                return file.read()
    from importlib.metadata import version as installed

    return installed("libcst")
