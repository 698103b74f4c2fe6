"""Where in the user's code a transfer was asked for, and what its values are called there."""

from __future__ import annotations

import functools
from types import CodeType, FrameType
from typing import NamedTuple

from runtime_guard.lines import is_plumbing, package_of
from runtime_guard.profiler.recording.names import NO_NAMES, Names, names_at

SITES_KEPT = 4096
"""Beyond this many the sites are looked up anew; none is lost."""


class Site(NamedTuple):
    """An instruction in the user's code."""

    file: str
    line: int
    function: str
    names: Names


UNKNOWN = Site("<unknown>", 0, "<unknown>", NO_NAMES)

# The code is kept with its site: while it lives, no other code has its id.
_sites: dict[tuple[int, int], tuple[CodeType, Site]] = {}


def site_of(frame: FrameType | None) -> Site:
    """Return the innermost place outside torch, numpy, the standard library and this package.

    Neither the frame nor its variables are kept. The variables are not even looked at: before
    Python 3.13 a look keeps every tensor among them alive until the function returns.
    """
    innermost = frame
    while frame is not None and not moves_on_purpose(frame.f_code.co_filename):
        frame = frame.f_back
    frame = frame or innermost
    if frame is None:
        return UNKNOWN
    code, instruction = frame.f_code, frame.f_lasti
    known = _sites.get((id(code), instruction))
    if known is not None:
        return known[1]
    line = frame.f_lineno or 0
    names = names_at(code, instruction, line)
    site = Site(code.co_filename, line, code.co_name, names)
    if len(_sites) >= SITES_KEPT:
        _sites.clear()
    _sites[id(code), instruction] = (code, site)
    return site


@functools.lru_cache(maxsize=SITES_KEPT)
def moves_on_purpose(file: str) -> bool:
    """Return whether code of this file was written by somebody who moves tensors on purpose.

    A library is; numpy only stands in between, like torch.
    """
    return not (
        is_plumbing(file) or package_of(file) == "numpy" or file.startswith("<__array_function__")
    )
