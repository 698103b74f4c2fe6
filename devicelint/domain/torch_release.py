"""Releases of torch, as people write them and as two of them compare."""

from __future__ import annotations

import re

TorchRelease = tuple[int, int]
"""The first two numbers of a release: (2, 6) for 2.6.0."""

_WRITTEN = re.compile(r"(\d{1,3})\.(\d{1,3})(\.\d{1,3})?")


def torch_release(text: str) -> TorchRelease:
    """Read a release of torch; raises ValueError, with the message, for anything else.

    >>> torch_release("2.13.0")
    (2, 13)
    """
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        raise ValueError(f'"{text}" is no release of torch; write it like "2.6"')
    return int(written[1]), int(written[2])


def release_text(release: TorchRelease) -> str:
    """Write a release as people do.

    >>> release_text((2, 13))
    '2.13'
    """
    return ".".join(map(str, release))
