"""The tensors that a line of running code names, and those that a function of torch was given."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from torch import Tensor, nn

from runtime_guard._frames import Step, values_of
from runtime_guard._walk import tensors_in

# `x`, `self.mask`, `batch["mask"]`, `states[0].h`; a call's `(` ends it.
_PATH = re.compile(r"""[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:\d+|"[^"]*"|'[^']*')\])*""")
_PART = re.compile(r"""\.(?P<name>\w+)|\[(?:(?P<index>\d+)|["'](?P<key>[^"']*)["'])\]""")
_KEYWORD = re.compile(r"\s*=(?!=)")

_MOST = 50


def tensors_on_line(step: Step) -> dict[str, Tensor]:
    """The tensors that the failing part of a line names, by what is written there.

    Names are looked up and nothing is called; what a call on that line returned is gone.
    """
    text = _running_part(step)
    found: dict[str, Tensor] = {}
    for match in _PATH.finditer(text):
        if not _KEYWORD.match(text, match.end()) or match.end() == len(text):
            with suppress(Exception):  # A property or a mapping of somebody's may raise anything.
                found.update(_resolved(step, match[0]))
    return found


def _running_part(step: Step) -> str:
    """The source of the expression that is being evaluated; the whole line before Python 3.11."""
    file, line = step.file, step.line
    positions = getattr(step.frame.f_code, "co_positions", None)
    if positions is None or step.instruction < 0:
        return linecache.getline(file, line, step.frame.f_globals)
    nothing = (None, None, None, None)
    first, last, start, end = next(islice(positions(), step.instruction // 2, None), nothing)
    if first is None or last is None or start is None or end is None:
        return linecache.getline(file, line, step.frame.f_globals)
    linecache.getlines(file, step.frame.f_globals)
    # Columns count bytes.
    rows = [linecache.getline(file, number).encode() for number in range(first, last + 1)]
    rows[-1] = rows[-1][:end]
    rows[0] = rows[0][start:]
    return b"".join(rows).decode(errors="replace")


def _resolved(step: Step, path: str) -> Iterator[tuple[str, Tensor]]:
    value, read = _read(step, path)
    if not isinstance(value, nn.Module):
        yield from islice(tensors_in(value, read), _MOST)


def value_of(step: Step, path: str) -> Any:
    """What a path leads to: `batch["mask"]`, `self.state[0]`."""
    return _read(step, path)[0]


def _read(step: Step, path: str) -> tuple[Any, str]:
    head = re.match(r"\w+", path)
    name = head[0] if head else ""
    values = {**step.frame.f_globals, **values_of(step.frame)}
    value, read = values.get(name), name
    for part in _PART.finditer(path, len(name)):
        # The attributes of a tensor (`x.T`, `x.grad`) are where it is.
        if isinstance(value, Tensor):
            break
        value = _part_of(value, part)
        read = path[: part.end()]
    return value, read


def _part_of(value: Any, part: re.Match[str]) -> Any:
    if part["name"] is not None:
        return getattr(value, part["name"])
    if isinstance(value, (list, tuple, Mapping)):
        return value[int(part["index"]) if part["index"] is not None else part["key"]]
    return None


def tensors_of_arguments(step: Step) -> dict[str, Tensor]:
    """The tensors among the present values of a function's arguments, by their names."""
    code, values = step.frame.f_code, values_of(step.frame)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {
        path: tensor
        for name in names
        if not isinstance(values.get(name), nn.Module)
        for path, tensor in islice(tensors_in(values.get(name), name), _MOST)
    }
