"""The tensors that a line of running code names, and those that a function of torch was given."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from torch import Tensor, nn

from runtime_guard.check.walk import tensors_in
from runtime_guard.messages.frames import Step, values_of

# `x`, `self.mask`, `batch["mask"]`, `states[0].h`; a call's `(` ends it.
_PATH = re.compile(r"""[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:\d+|"[^"]*"|'[^']*')\])*""")
_PART = re.compile(r"""\.(?P<name>\w+)|\[(?:(?P<index>\d+)|["'](?P<key>[^"']*)["'])\]""")
_KEYWORD = re.compile(r"\s*=(?!=)")

_MOST = 50
# As many lines as a call is written over.
_LONGEST = 30


def tensors_on_line(step: Step) -> dict[str, Tensor]:
    """The tensors that the failing part of a line names, by what is written there.

    Names are looked up and nothing is called; what a call on that line returned is gone.
    """
    text = running_part(step)
    found: dict[str, Tensor] = {}
    for match in _PATH.finditer(text):
        if not _KEYWORD.match(text, match.end()) or match.end() == len(text):
            with suppress(Exception):  # A property or a mapping of somebody's may raise anything.
                found.update(_resolved(step, match[0]))
    return found


def words_of(step: Step) -> set[str]:
    """The words in the failing part of a line; none where its source cannot be read."""
    return set(re.findall(r"\w+", running_part(step)))


def running_part(step: Step) -> str:
    """The source of the expression that is being evaluated; all of it before Python 3.11."""
    linecache.checkcache(step.file)
    rows = linecache.getlines(step.file, step.frame.f_globals)
    positions = getattr(step.frame.f_code, "co_positions", None)
    nothing = (None, None, None, None)
    if positions is None or step.instruction < 0:
        return _whole(rows, step.line)
    first, last, start, end = next(islice(positions(), step.instruction // 2, None), nothing)
    if first is None or last is None or start is None or end is None:
        return _whole(rows, step.line)
    # Columns count bytes.
    part = [row.encode() for row in rows[first - 1 : last]]
    if part:
        part[-1] = part[-1][:end]
        part[0] = part[0][start:]
    return b"".join(part).decode(errors="replace")


def _whole(rows: list[str], line: int) -> str:
    """The line, and those after it until its brackets are closed."""
    text = ""
    for row in rows[line - 1 : line - 1 + _LONGEST]:
        text += row
        if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")):
            break
    return text


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
        key: Any = part["key"] if part["index"] is None else int(part["index"])
        return value[key]
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
