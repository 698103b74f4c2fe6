"""Values that two paths leave, both of them kept."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from devicelint.domain import alternatives
from devicelint.domain.alternatives import (
    are_exclusive,
    cases_of,
    is_mixed,
    on_path,
    settled,
)
from devicelint.domain.devices import CPU, Known, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import State
from devicelint.domain.values import (
    ARRAY,
    HOST,
    NONE,
    Batch,
    DictOf,
    ListOf,
    Module,
    OneOf,
    Tensor,
    Tuple,
    Unknown,
)

CUDA = Known("cuda")
STEP = Step(Verb.CREATED, "here", CPU)
ON_CPU, ON_CUDA = Tensor(CPU, STEP), Tensor(CUDA, STEP)
YES, NO = frozenset({("count > 3", True)}), frozenset({("count > 3", False)})

_DEVICES = st.sampled_from([CPU, CUDA, Known("cuda", 1), Unsure("a reason")])
_LEAVES = st.one_of(
    st.sampled_from([NONE, ARRAY, Unknown("a reason"), ListOf(1, None), DictOf(2, None)]),
    st.builds(Tensor, _DEVICES, st.just(STEP), st.sampled_from([True, False, None])),
    st.builds(Batch, _DEVICES, st.just(STEP)),
    st.builds(Module, st.integers(1, 3), st.just("Net"), st.just(STEP)),
)
VALUES = st.one_of(_LEAVES, st.builds(Tuple, st.tuples(_LEAVES, _LEAVES)))
PATHS = st.sampled_from([frozenset(), YES, NO])


def either(*values_and_paths: Any) -> Any:
    """The value on either of two paths, of which a test knows the kind."""
    return alternatives.either(*values_and_paths)


@given(VALUES, PATHS)
def test_a_value_and_itself_are_one(value, path):
    assert either(value, value, path, path) == value
    assert either(value, None) == value
    assert either(None, value) == value


@given(VALUES, VALUES, PATHS, PATHS)
def test_paths_have_no_order(one, other, this, that):
    left, right = either(one, other, this, that), either(other, one, that, this)
    assert left == right
    assert [path for _, path in cases_of(left)] == [path for _, path in cases_of(right)]


@given(VALUES, VALUES, VALUES)
def test_three_paths_may_meet_in_any_order(one, other, third):
    assert either(either(one, other), third) == either(one, either(other, third))


@given(VALUES, VALUES)
def test_what_is_kept_is_kept(one, other):
    both = either(one, other)
    assert either(both, one) == both
    assert either(both, other) == both


def test_two_devices_are_told_apart():
    both = either(ON_CPU, ON_CUDA, YES, NO)
    assert cases_of(both) == ((ON_CPU, YES), (ON_CUDA, NO))
    assert is_mixed(both)
    assert are_exclusive(both)


def test_a_path_leaves_out_what_is_not_on_it():
    both = either(ON_CPU, ON_CUDA, YES, NO)
    assert on_path(both, {"count > 3": True}) == ON_CPU
    assert on_path(both, {"count > 3": False}) == ON_CUDA
    assert on_path(both, {"count > 4": False}) == both


def test_what_both_paths_have_needs_neither():
    both = either(either(ON_CPU, ON_CUDA, YES, NO), ON_CPU, NO, NO)
    assert on_path(both, {"count > 3": False}) == both


def test_a_number_is_not_told_apart():
    assert not is_mixed(either(HOST, ON_CUDA))


def test_objects_are_asked_in_any_case():
    one, other = Module(1, "A", STEP), Module(2, "B", STEP)
    assert either(one, other) == OneOf((one, other))
    assert not is_mixed(either(one, other))


def test_more_than_four_are_not_told():
    joined: Any = ListOf(0, None)
    for number in range(1, 4):
        joined = either(joined, ListOf(number, None))
    assert len(cases_of(joined)) == 4
    assert isinstance(either(joined, ListOf(4, None)), Unknown)


def test_one_value_can_be_had_of_all():
    unsure = settled(either(ON_CPU, ON_CUDA))
    assert isinstance(unsure, Tensor)
    assert isinstance(unsure.device, Unsure)


def test_states_tell_apart_what_their_facts_tell_apart():
    state = State()
    state.write("frame", "x", ON_CPU)
    other = state.fork()
    other.write("frame", "x", ON_CUDA)
    state.suppose(YES)
    other.suppose(NO)
    state.merge(other, apart=True)
    assert cases_of(state.fields("frame")["x"]) == ((ON_CPU, YES), (ON_CUDA, NO))
    assert not state.facts
    assert state.told_apart == {"x"}
