"""The lines of a recording, each read as the value that it stands for.

Whatever a line lacks, or has in another type, is a `FieldError`.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, cast, get_args

from runtime_guard.profiler.recording.fields import (
    Content,
    FieldError,
    all_in,
    count,
    each,
    flag,
    mapping,
    number,
    or_none,
    text,
)
from runtime_guard.profiler.recording.values import (
    FORMAT,
    Header,
    Kind,
    RecordedEvent,
    Spot,
    Tally,
    Values,
)


def parsed(line: bytes) -> dict[str, Any]:
    """Return the object of one line, which has a type."""
    try:
        content = json.loads(line, parse_constant=_refused)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise FieldError("no JSON object")
    text(content, "type")
    return content


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def header(content: Content) -> Header:
    """Read which run it was."""
    if count(content, "format") != FORMAT:
        raise FieldError(f'"format" is {content["format"]}, expected {FORMAT}')
    if "continues" in content:
        flag(content, "continues")
    return Header(
        format=FORMAT,
        started=number(content, "started"),
        pid=count(content, "pid"),
        host=text(content, "host"),
        rank=or_none(content, "rank", count),
        world_size=or_none(content, "world_size", count),
        argv=tuple(each(content, "argv", text)),
        python=text(content, "python"),
        torch=text(content, "torch"),
        virtual="virtual" in content and flag(content, "virtual"),
    )


def event(content: Content) -> RecordedEvent:
    """Read one copy or wait."""
    return RecordedEvent(
        at=number(content, "at"),
        spot=_spot(content),
        bytes=count(content, "bytes"),
        host_us=number(content, "host_us"),
        device_us=or_none(content, "device_us", number),
        thread=count(content, "thread"),
    )


def totals(content: Content) -> dict[Spot, Tally]:
    """Read the sums of every spot."""
    return {_spot(found): _tally(found) for found in each(content, "spots", mapping)}


def values(content: Content) -> Values:
    """Read how often each named value was seen on which device."""
    return {
        (text(found, "file"), count(found, "line"), text(found, "name")): all_in(
            found, "devices", count
        )
        for found in each(content, "values", mapping)
    }


def mismatch(content: Content) -> dict[str, Any]:
    """Read what `Mismatch.to_dict` wrote, as much of it as is there."""
    texts = ("module", "module_class", "argument", "expected", "anchor", "advice", "rank")
    places = ("failed_at", "entered_at", "launched_at")
    found: dict[str, Any] = {key: text(content, key) for key in texts if key in content}
    for key in places:
        if key in content:
            found[key] = or_none(content, key, _place)
    if "tensor" in content:
        found["tensor"] = _facts(mapping(content, "tensor"))
    return found


def _spot(content: Content) -> Spot:
    kind = text(content, "kind")
    if kind not in get_args(Kind):
        expected = " or ".join(f'"{name}"' for name in get_args(Kind))
        raise FieldError(f'"kind" is {json.dumps(kind)[:40]}, expected {expected}')
    return Spot(
        file=text(content, "file"),
        line=count(content, "line"),
        function=text(content, "function"),
        kind=cast("Kind", kind),
        op=text(content, "op"),
        source=text(content, "from"),
        target=text(content, "to"),
    )


def _tally(content: Content) -> Tally:
    return Tally(
        count=count(content, "count"),
        bytes=count(content, "bytes"),
        host_us=number(content, "host_us"),
        device_us=or_none(content, "device_us", number),
    )


def _place(content: Content, key: str) -> dict[str, Any]:
    found = mapping(content, key)
    texts = {name: text(found, name) for name in ("file", "function", "text")}
    return {**texts, "line": count(found, "line")}


def _facts(content: Content) -> dict[str, Any]:
    return {
        "device": text(content, "device"),
        "dtype": text(content, "dtype"),
        "shape": each(content, "shape", count),
        "bytes": count(content, "bytes"),
    }
