"""The value of two paths, kind by kind."""

from __future__ import annotations

import pytest

from devicelint.domain.devices import CPU, Known, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.join import join
from devicelint.domain.values import (
    FALSE,
    HOST,
    NONE,
    Const,
    DeviceHandle,
    ListOf,
    Module,
    OneOf,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

CUDA = Known("cuda")
STEP = Step(Verb.CREATED, "here", CPU)
ON_CPU, ON_CUDA = Tensor(CPU, STEP), Tensor(CUDA, STEP)
UNSURE = Tensor(Unsure("differs"), STEP)
ONE, OTHER = Module(1, "One", STEP), Module(2, "Other", STEP)
ROWS: dict[str, tuple[Value | None, Value | None, Value | None]] = {
    "the same": (ON_CUDA, ON_CUDA, ON_CUDA),
    "two devices": (ON_CPU, ON_CUDA, UNSURE),
    "missing on one path": (None, ON_CUDA, ON_CUDA),
    "None on one path": (NONE, ON_CUDA, ON_CUDA),
    "what is not known": (Unknown("why"), ON_CUDA, Unknown("why")),
    "two constants": (Const(1), Const(2), HOST),
    "a constant and a host value": (Const(1), HOST, HOST),
    "True and 1": (Const(True), Const(1), HOST),
    "two handles": (DeviceHandle(CPU), DeviceHandle(CUDA), DeviceHandle(Unsure("differs"))),
    "tuples": (Tuple((ON_CPU, ON_CUDA)), Tuple((ON_CUDA, ON_CUDA)), Tuple((UNSURE, ON_CUDA))),
    "tuples of two lengths": (Tuple((ON_CPU,)), Tuple(()), Unknown("differs")),
    "streams": (Stream(ON_CPU), Stream(ON_CUDA), Stream(UNSURE)),
    "two modules": (ONE, OTHER, OneOf((ONE, OTHER))),
    "one module": (ONE, ONE, ONE),
    "a layer that is left out": (FALSE, ONE, ONE),
    "two lists": (ListOf(1, None), ListOf(2, None), Unknown("differs")),
    "a tensor and a list": (ON_CUDA, ListOf(1, None), Unknown("differs")),
}


@pytest.mark.parametrize(("one", "other", "joined"), ROWS.values(), ids=ROWS)
def test_two_paths_have_one_value(one, other, joined):
    assert join(one, other) == joined
    assert join(other, one) == joined


def test_one_of_four_is_the_most_that_is_told():
    several = [Module(number, "M", STEP) for number in range(6)]
    joined: Value | None = several[0]
    for module in several[1:4]:
        joined = join(joined, module)
    assert joined == OneOf(tuple(several[:4]))
    assert isinstance(join(joined, several[4]), Unknown)
