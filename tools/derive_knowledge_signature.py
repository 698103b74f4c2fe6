"""Write what a function's samples show as a device signature, in the notation of the stubs."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from tools import derive_device_rules
from tools.derive_knowledge_calls import Parameter, parameters
from tools.derive_knowledge_probe import Outcome, Place, Sample, Seen, outcome, see

ROOT = Path(__file__).resolve().parent.parent

KEYWORD = inspect.Parameter.KEYWORD_ONLY
STAR = inspect.Parameter.VAR_POSITIONAL
DOUBLE_STAR = inspect.Parameter.VAR_KEYWORD


def signature(name: str, samples: Sequence[Sample]) -> str | None:
    """The signature that the samples of a function show; None where none of them can be made."""
    known: list[Parameter] = []
    seen: dict[str, Seen] = {}
    made: list[Sample] = []
    for sample in samples:
        mine = parameters(name, sample)
        if mine:
            known = max(known, mine, key=len)
            made.append(sample)
            _observe(sample, mine, seen)
    excused = _excused(name)
    asked = {
        argument: one.annotation(is_excused=argument in excused) for argument, one in seen.items()
    }
    result = _result(name, made, known, grouped=len(seen) == 1 or _is_grouped(asked))
    if len(seen) == 1:
        # A tensor that is alone is where its result is.
        asked = {only: text or _alone(seen[only]) for only, text in asked.items()}
    if result is None:
        return None
    if _is_grouped(asked):
        asked = _compared(name, known) | {
            argument: text for argument, text in asked.items() if text
        }
    if result == "New":
        asked["device"] = "Device"
    return f"({', '.join(_written(known, asked))}) -> {result}"


def _is_grouped(asked: Mapping[str, str]) -> bool:
    return any("[D]" in text for text in asked.values())


def _compared(name: str, known: Sequence[Parameter]) -> dict[str, str]:
    """What CUDA's kernel of that name asks of the parameters that no sample gives."""
    operator = name.rpartition(".")[2]
    rows = [row for one, row in _rows().items() if one.partition(".")[0] == operator]
    compared = {
        a.partition("=")[0] for kind, _, given, *_ in rows if kind == "exact" for a in given
    }
    return dict.fromkeys(compared & {parameter.name for parameter in known}, "Tensor[D]")


def _excused(name: str) -> set[str]:
    """The arguments of which CUDA's kernel of that name takes a scalar of the CPU."""
    operator = name.rpartition(".")[2]
    rows = [row for one, row in _rows().items() if one.partition(".")[0] == operator]
    return {
        {"self": "input"}.get(argument, argument)
        for kind, _, given, scalars, *takes in rows
        if kind == "iterator" and scalars
        for argument in takes or given
    }


@functools.cache
def _rows() -> dict[str, list[Any]]:
    """CUDA's device rules, as tools/derive_device_rules.py writes them."""
    path = ROOT / derive_device_rules.table_path(derive_device_rules.installed_release())
    rows: dict[str, list[Any]] = json.loads(path.read_text(encoding="utf-8"))["ops"]
    return rows


def _alone(seen: Seen) -> str:
    return "Sequence[Tensor[D]]" if seen.sequence else "Tensor[D]"


def _observe(sample: Sample, known: list[Parameter], seen: dict[str, Seen]) -> None:
    names = _names(sample, known)
    by_place: dict[Place, Seen] = {}
    for place, name in names.items():
        by_place[place] = seen.setdefault(name, Seen())
        value = sample.given[0][place] if isinstance(place, int) else sample.given[1][place]
        by_place[place].sequence |= not isinstance(value, torch.Tensor)
    see(sample, by_place)


def _names(sample: Sample, known: list[Parameter]) -> dict[Place, str]:
    """The parameter that each tensor of a call is for."""
    positional = [p.name for p in known if p.kind not in (KEYWORD, STAR, DOUBLE_STAR)]
    star = next((p.name for p in known if p.kind is STAR), "")
    return {
        place: place
        if isinstance(place, str)
        else positional[place]
        if place < len(positional)
        else star
        for place in sample.places()
    }


def _result(
    name: str, samples: Sequence[Sample], known: Sequence[Parameter], *, grouped: bool
) -> str | None:
    found = [one for one in (outcome(s, fixed=_is_fixed(name)) for s in samples) if one]
    stated = {one.stated for one in found}
    if not stated:
        return None
    if len(stated) > 1:
        plain = {re.sub(r"NoGrad\[(\w+\[\w+\])\]", r"\1", text) for text in stated}
        stated = plain if len(plain) == 1 else {"Any"}
    (text,) = stated
    if "[CPU]" in text and not grouped:
        return "New" if _takes_device(known) else text
    if "[D]" in text and not grouped:
        return "Any"
    return text.replace("View", "Tensor") if _is_pointwise(name, samples, found) else text


def _is_pointwise(name: str, samples: Sequence[Sample], found: Sequence[Outcome]) -> bool:
    """Whether torch says that each element of the result comes of those at the same place."""
    packet = getattr(torch.ops.aten, name.rpartition(".")[2], None)
    if not isinstance(packet, torch._ops.OpOverloadPacket) or len(found) != len(samples):
        return False
    tags = [getattr(packet, overload).tags for overload in packet.overloads()]
    return any(torch.Tag.pointwise in one for one in tags) and all(
        one.is_scalar == _is_scalar(sample) for sample, one in zip(samples, found, strict=True)
    )


def _is_scalar(sample: Sample) -> bool:
    args, kwargs = sample.given
    given = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
    return all(one.dim() == 0 for one in given)


def _is_fixed(name: str) -> bool:
    """Whether the operator always gives the same number of tensors."""
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name.rpartition('.')[2]}")
    return bool(schemas) and all(len(one.returns) > 1 for one in schemas)


def _takes_device(known: Sequence[Parameter]) -> bool:
    return any(parameter.name == "device" for parameter in known)


def _written(known: Sequence[Parameter], asked: dict[str, str]) -> Iterator[str]:
    """Yield the parameters as they stand between the parentheses of a `def`."""
    starred = False
    for parameter in known:
        if parameter.name in ("out", "layout", "pin_memory", "memory_format"):
            continue
        if parameter.kind is KEYWORD and not starred:
            starred = True
            yield "*"
        starred |= parameter.kind is STAR
        sign = {STAR: "*", DOUBLE_STAR: "**"}.get(parameter.kind, "")
        yield sign + _one(parameter, asked.get(parameter.name, ""))


def _one(parameter: Parameter, asked: str) -> str:
    default = parameter.default
    if not asked:
        return parameter.name if default is None else f"{parameter.name}={default}"
    text = f"{parameter.name}: {asked}"
    return text if default is None else f"{text} = {default}"
