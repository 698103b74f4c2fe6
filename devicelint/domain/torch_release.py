"""Releases of torch, as people write them and as two of them compare."""

from __future__ import annotations

import re

TorchRelease = tuple[int, int]
"""The first two numbers of a release: (2, 6) for 2.6.0."""

OLDEST: TorchRelease = (1, 0)
NEWEST: TorchRelease = (2, 13)
"""The last release whose knowledge is in the stubs."""

_LAST_OF_ONE = 13
"""The last release before 2.0 was 1.13."""

_WRITTEN = re.compile(r"(\d{1,3})\.(\d{1,3})(\.\d{1,3})?")


def torch_release(text: str) -> TorchRelease:
    """Read a release of torch; raises ValueError, with the message, for anything else.

    A release later than the newest one known is refused, too: nothing is known of it.

    >>> torch_release("2.13.0")
    (2, 13)
    """
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        raise ValueError(f'"{text}" is not a release of torch: write it like "2.6"')
    release = int(written[1]), int(written[2])
    if not OLDEST <= release <= NEWEST or (release < (2, 0) and release[1] > _LAST_OF_ONE):
        known = f"{release_text(OLDEST)} to {release_text(NEWEST)}"
        raise ValueError(f'torch "{text}" is unknown: expected a release from {known}')
    return release


def release_text(release: TorchRelease) -> str:
    """Write a release as people do.

    >>> release_text((2, 13))
    '2.13'
    """
    return ".".join(map(str, release))
