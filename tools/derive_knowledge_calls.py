"""The calls that a derivation makes: torch's operator database, and samples for what it leaves out.

Also which parameters a function has: from Python where it is written in Python, else from the
schemas of its operator, of which the one that fits the call is taken.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from tools.derive_knowledge_probe import Sample

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BY_HAND = Path(__file__).resolve().parent / "derive_knowledge.toml"

SAMPLES = 24
"""So many samples of an operator are looked at; those with other arguments are used."""

POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD

ALIKE = 2
"""So many samples with the same arguments are used."""

ALONE = "call(rand(1))"
"""The call of a function that needs one tensor and nothing else."""

VARIANTS = {("max", "binary"), ("min", "binary")}
"""Variants that a stub states elsewhere: with a tensor for `dim`, `max` is `maximum`."""


@dataclass(frozen=True)
class Parameter:
    """A parameter as a stub writes it, but for its annotation."""

    name: str
    kind: Any
    default: str | None


def by_hand() -> dict[str, Any]:
    """What the derivation is told: samples, and what it cannot answer."""
    content: dict[str, Any] = tomllib.loads(BY_HAND.read_text(encoding="utf-8"))
    return content


def samples() -> Iterator[tuple[str, Callable[[], list[Sample]]]]:
    """Yield the name of each function that can be called, and how to get its samples."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        named = (qualified(one) for one in (op.name, *(alias.name for alias in op.aliases)))
        for name in dict.fromkeys(name for name in named if name is not None):
            if (op.name, op.variant_test_name) not in VARIANTS:
                yield name, functools.partial(_of_database, op, function(name))
    told = by_hand()
    for name, text in (told["samples"] | dict.fromkeys(told["alone"], ALONE)).items():
        yield name, functools.partial(_of_text, name, text)


def qualified(operator: str) -> str | None:
    """The name by which a script calls an operator of the database."""
    plain = operator.removeprefix("torch.").removesuffix(".default")
    places = (f"torch.{plain}", f"torch.Tensor.{plain}", f"torch.Tensor.{plain}_")
    for name in (*places, f"torch.ops.aten.{plain}"):
        try:
            found = function(name)
        except (AttributeError, ImportError):
            continue
        if callable(found) and not inspect.isclass(found):
            return name
    return None


def function(name: str) -> Any:
    """What a qualified name stands for."""
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")
    return found


def _of_database(op: Any, called: Callable[..., Any]) -> list[Sample]:
    kinds = op.supported_dtypes("cpu")
    dtype = torch.float32 if torch.float32 in kinds else min(kinds, key=str, default=None)
    met: Counter[tuple[Any, ...]] = Counter()
    chosen = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(islice(op.sample_inputs("cpu", dtype), SAMPLES)) if dtype else []
    except Exception:  # noqa: BLE001 - a sample that this torch cannot make
        return []
    for sample in found:
        given = (sample.input, *sample.args), dict(sample.kwargs)
        leaves = [leaf for leaf in tree_leaves(given) if isinstance(leaf, Tensor)]
        # Another sample is worth a call where it gives other arguments, or gives them a scalar.
        shape = (len(leaves), tuple(leaf.dim() == 0 for leaf in leaves), tuple(given[1]))
        if met[shape] < ALIKE and all(leaf.layout is torch.strided for leaf in leaves):
            met[shape] += 1
            chosen.append(Sample(called, given))
    return chosen


def _of_text(name: str, text: str) -> list[Sample]:
    def given(*args: Any, **kwargs: Any) -> Sample:
        return Sample(function(name), (args, kwargs))

    scope = {"torch": torch, "rand": torch.rand, "call": given}
    found = eval(text, scope)
    return [found] if isinstance(found, Sample) else list(found)


def parameters(name: str, sample: Sample) -> list[Parameter]:
    """The parameters of the function, as far as the call can be bound to them; else none."""
    stated = _python(sample.function)
    if not stated:
        fitting = [found for found in _schemas(name) if _fits(found, sample)]
        if fitting:
            return max(fitting, key=len)
        stated = _python(torch.overrides.get_testing_overrides().get(sample.function))
    return [Parameter(p.name, p.kind, _default(p)) for p in stated]


def _python(function: Any) -> list[inspect.Parameter]:
    """The parameters that Python states; none for those of a function that only passes them on."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    return [] if [p.name for p in found] == ["args", "kwargs"] else found


def _default(parameter: inspect.Parameter) -> str | None:
    if parameter.default is inspect.Parameter.empty:
        return None
    return repr(parameter.default) if _is_plain(parameter.default) else "None"


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _schemas(name: str) -> Iterator[list[Parameter]]:
    operator = "_".join(name.removeprefix("torch.").removeprefix("ops.aten.").split("."))
    operator = operator.removeprefix("Tensor_").removeprefix("nn_functional_")
    is_method = name.startswith("torch.Tensor.")
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{operator}"):
        arguments = [a for a in schema.arguments if not a.is_out]
        yield [_parameter(a, is_method=is_method or ".ops." in name) for a in arguments]


def _parameter(argument: Any, *, is_method: bool) -> Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY if argument.kwarg_only else POSITIONAL
    plain = _is_plain(argument.default_value)
    default = (repr(argument.default_value) if plain else "None") if _optional(argument) else None
    name = "input" if argument.name == "self" and not is_method else argument.name
    return Parameter(f"{name}_" if name == "from" else name, kind, default)


def _optional(argument: Any) -> bool:
    return bool(argument.has_default_value())


def _fits(found: list[Parameter], sample: Sample) -> bool:
    args, kwargs = sample.given
    positional = [p for p in found if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    names = {p.name for p in found}
    given = {p.name for p in positional[: len(args)]} | set(kwargs)
    required = {p.name for p in found if p.default is None}
    return len(args) <= len(positional) and set(kwargs) <= names and required <= given
