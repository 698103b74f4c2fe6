"""Probability distributions: their parameters and what is drawn from them share a device."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import libcst as cst

from devicelint.domain.devices import CPU, Device, Unsure, agreement
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    Array,
    Const,
    Distribution,
    HostValue,
    ListOf,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import attributes, function, library_class, methods
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.torch.operations.excuses import DIFFERENT
from devicelint.interpreter.torch.operations.operands import (
    common_device,
    computed,
    find_clash,
    mixes_as_scalar,
    operand_of,
)
from devicelint.interpreter.torch.operations.reports import report_clash

_GIVEN = frozenset(
    "logits probs loc scale rate low high concentration concentration0 concentration1 df "
    "covariance_matrix scale_tril precision_matrix".split()
)
"""Attributes that are the parameters themselves, as tensors."""
_TENSORS = _GIVEN | {"mean", "stddev", "variance", "mode"}
_OF_A_VALUE = frozenset({"log_prob", "cdf", "icdf"})
_OF_ITSELF = frozenset({"entropy", "perplexity", "enumerate_support"})
_DRAWS = frozenset({"sample", "rsample", "sample_n"})
_USES_ALL = _DRAWS | _OF_A_VALUE
"""The methods in which all parameters meet."""
_ELEMENTWISE = frozenset(
    "Normal Uniform Bernoulli ContinuousBernoulli Beta Gamma Laplace Exponential Cauchy LogNormal "
    "Poisson Gumbel HalfNormal HalfCauchy StudentT Pareto Weibull VonMises Geometric "
    "Dirichlet MultivariateNormal Multinomial OneHotCategorical OneHotCategoricalStraightThrough "
    "RelaxedOneHotCategorical".split()
)
"""Distributions of which a draw has the dimensions of the parameters."""
_COMPARED = frozenset({"Uniform", "Beta"})
"""Distributions whose parameters meet when they are made; those of others do when it is used."""
_RANKED = frozenset(
    "Categorical OneHotCategorical OneHotCategoricalStraightThrough Multinomial Dirichlet "
    "MultivariateNormal RelaxedOneHotCategorical".split()
)
"""Distributions whose parameters have a dimension for sure."""


@library_class("distribution")
def build_distribution(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`Normal(mean, std)`: where its parameters are; of numbers alone, on the CPU."""
    kind = name.rpartition(".")[2]
    if not kind[:1].isupper() or ".constraints." in name or arguments.open:
        return Unknown("a distribution")
    operands = [one for argument in arguments if (one := _parameter(argument)) is not None]
    unknown = any(isinstance(a.value, Unknown) for a in arguments)
    if not operands:
        return Unknown("a distribution") if unknown else _of_numbers(run, kind, arguments, site)
    device, since = _shared(operands, unknown=unknown)
    # One without dimensions gets those of the others, and is excused no longer.
    are_numbers = all(mixes_as_scalar(one) is not False or _is_number_at(one) for one in operands)
    apart = find_clash([(one, are_numbers) for one in operands])
    if apart is not None and kind in _COMPARED:
        report_clash(run, site, name, apart)
        apart = None
    ranks = [one.value.scalar for one in operands if isinstance(one.value, Tensor)]
    ranked = kind in _RANKED or False in ranks
    step = computed(site, device, since)
    scalar = False if ranked else None
    return Distribution(device, step, scalar, _is_elementwise(kind, arguments), apart)


def _is_elementwise(kind: str, arguments: Arguments) -> bool:
    """`Independent(base, 1)` counts dimensions in another way, and draws what its base draws."""
    base = arguments.get(0, "base_distribution") if kind == "Independent" else None
    if base is not None and isinstance(base.value, Distribution):
        return base.value.elementwise
    return kind in _ELEMENTWISE


def _is_number_at(operand: Operand) -> bool:
    return not (isinstance(operand.value, Tensor) and operand.value.scalar is False)


def _parameter(argument: Argument) -> Operand | None:
    value = argument.value
    if isinstance(value, Distribution):
        value = Tensor(value.device, value.since, value.scalar)
    return operand_of(value, argument.site)


def _of_numbers(run: Run, kind: str, arguments: Arguments, site: cst.Call) -> Value:
    """Numbers become tensors without dimensions."""
    if not all(isinstance(one.value, (Const, HostValue)) for one in arguments):
        return Unknown("a distribution")
    device = run.default_device
    numbers = all(_is_number(one.value) for one in arguments.positional)
    step = Step(Verb.CONVERTED, site, device)
    return Distribution(device, step, numbers or None, kind in _ELEMENTWISE)


def _is_number(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, (int, float))


def _shared(operands: list[Operand], *, unknown: bool) -> tuple[Device, Step | None]:
    """Parameters are broadcast before they meet, so that nothing fails where they differ."""
    firm = [one for one in operands if mixes_as_scalar(one) is not True]
    if any(agreement(one.device, other.device) in DIFFERENT for one, other in pairwise(firm)):
        return Unsure("its parameters are apart"), None
    return common_device(operands, unknown=unknown)


def _as_together(receiver: Distribution, apart: tuple[Operand, Operand]) -> Distribution:
    """What follows is looked at as though the parameter on the CPU had been moved to the other."""
    there = next((one for one in apart if one.device != CPU), apart[0])
    return replace(receiver, device=there.device, since=there.since or receiver.since, apart=None)


@attributes(Distribution)
def of_distribution(run: Run, value: Distribution, name: str, node: cst.Attribute) -> Value:
    if name in _TENSORS:
        has_rank = name in _GIVEN or value.elementwise
        return Tensor(value.device, value.since, value.scalar if has_rank else None)
    return value if name == "base_dist" else Unknown(f"an attribute {name} of a distribution")


@methods(Distribution)
def method_of_distribution(run: Run, receiver: Distribution, name: str, node: cst.Call) -> Value:
    assert isinstance(node.func, cst.Attribute)
    arguments = arguments_of(run, node)
    if receiver.apart is not None and receiver.elementwise and name in _USES_ALL:
        report_clash(run, node, name, receiver.apart)
        receiver = _as_together(receiver, receiver.apart)
    own = Tensor(receiver.device, receiver.since, receiver.scalar)
    if name in _DRAWS:
        scalar = receiver.scalar if receiver.elementwise else None
        scalar = False if _gives_shape(arguments) else scalar
        return Tensor(receiver.device, receiver.since, scalar, None if name == "rsample" else False)
    if name in _OF_A_VALUE:
        for given in arguments.positional[:1]:
            sides = (Argument(node.func.value, own), given)
            _meet(run, name, node, sides, mixes=receiver.elementwise)
            met = [one for side in sides if (one := _parameter(side)) is not None]
            device, since = common_device(met, unknown=len(met) < len(sides))
            return Tensor(device, computed(node, device, since), None)
        return Tensor(receiver.device, receiver.since, None)
    if name in _OF_ITSELF:
        return Tensor(receiver.device, receiver.since, None)
    return receiver if name == "expand" else Unknown(f"{name}() of a distribution")


def _gives_shape(arguments: Arguments) -> bool:
    """Whether a draw is asked for a shape that is not empty: `x.shape` is taken for such."""
    given = arguments.get(0, "sample_shape")
    if given is None:
        return False
    if isinstance(given.value, (ListOf, Array, HostValue)):
        return True
    return isinstance(given.value, Tuple) and bool(given.value.items)


def _meet(
    run: Run, name: str, node: cst.Call, sides: tuple[Argument, Argument], *, mixes: bool
) -> None:
    """Two sides should be on one device; to look up a value, 0-dim ones on the CPU as well."""
    found = [one for side in sides if (one := _parameter(side)) is not None]
    pair = find_clash([(one, mixes) for one in found])
    if pair is not None:
        report_clash(run, node, name, pair)


@function("torch.distributions.kl_divergence", "torch.distributions.kl.kl_divergence")
def kl_divergence(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = [one.value for one in arguments]
    if len(given) != 2 or not all(isinstance(one, Distribution) for one in given):
        return Unknown("the divergence of something unknown")
    first, second = arguments
    _meet(run, "kl_divergence", site, (first, second), mixes=True)
    operands = [one for side in (first, second) if (one := _parameter(side)) is not None]
    device, since = _shared(operands, unknown=False)
    return Tensor(device, computed(site, device, since), None)
