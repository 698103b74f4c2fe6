"""The files of the cache, each there whole or not at all; most are about one checked folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from devicelint.cache.records import Record
from devicelint.text.hashing import digest

DAMAGES = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What reading a file raises that is damaged or missing, or that somebody else has written."""


def read(path: Path, folder: str) -> dict[str, Record]:
    """What is remembered of the files of `folder`; nothing where that is damaged or missing."""
    try:
        data = read_data(path)
        if data["folder"] != folder:
            return {}
        return {str(name): Record.from_data(each) for name, each in data["files"].items()}
    except DAMAGES:
        return {}


def write(path: Path, folder: str, files: Mapping[str, Record]) -> None:
    """Replace what is remembered of the files of `folder`; raises OSError."""
    write_data(path, {"folder": folder, "files": {n: r.to_data() for n, r in files.items()}})


def read_data(path: Path) -> Any:
    """What a file holds; raises one of `DAMAGES`."""
    written, _, content = path.read_bytes().partition(b"\n")
    if written.decode() != digest(content):
        raise ValueError("it was not written as a whole")
    return json.loads(content)


def write_data(path: Path, data: Any) -> None:
    """Replace a file; raises OSError."""
    content = json.dumps(data, separators=(",", ":")).encode()
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(digest(content).encode() + b"\n" + content)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
