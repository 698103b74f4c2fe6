"""The files from which pytest collects tests."""

from __future__ import annotations


def is_collected(path: str) -> bool:
    """Whether pytest collects tests from a file, as it does by default."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")
