"""The part of the cache that is about the files of one folder: one file, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from devicelint.cache.records import Record
from devicelint.text.hashing import digest


def read(path: Path, folder: str) -> dict[str, Record]:
    """What is remembered of the files of `folder`; nothing where that is damaged or missing."""
    try:
        written, _, content = path.read_bytes().partition(b"\n")
        if written.decode() != digest(content):
            return {}
        data = json.loads(content)
        if data["folder"] != folder:
            return {}
        return {str(name): Record.from_data(each) for name, each in data["files"].items()}
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return {}


def write(path: Path, folder: str, files: Mapping[str, Record]) -> None:
    """Replace what is remembered of the files of `folder`; raises OSError."""
    data: dict[str, Any] = {"folder": folder, "files": {n: r.to_data() for n, r in files.items()}}
    content = json.dumps(data, separators=(",", ":")).encode()
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(digest(content).encode() + b"\n" + content)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
