"""Values and states on two paths."""

from hypothesis import given
from hypothesis import strategies as st

from devicelint.domain.devices import CPU, Known, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.join import join
from devicelint.domain.state import State
from devicelint.domain.values import (
    ARRAY,
    HOST,
    NONE,
    Batch,
    Const,
    DeviceHandle,
    DictOf,
    Flag,
    ListOf,
    Module,
    OneOf,
    Placed,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
)

CUDA = Known("cuda")
STEP = Step(Verb.CREATED, "here", CPU)


def tensor(device=CPU, scalar=False, grad=False):
    return Tensor(device, STEP, scalar, grad)


_DEVICES = st.sampled_from([CPU, CUDA, Known("cuda", 1), Unsure("a reason")])
_LEAVES = st.one_of(
    st.builds(Unknown, st.just("a reason")),
    st.builds(Const, st.sampled_from([None, 0, 1, True, "cpu", "cuda"])),
    st.sampled_from([HOST, ARRAY, Flag("args.cuda"), Symbolic("args"), Symbolic("x", "x")]),
    st.builds(tensor, _DEVICES, st.sampled_from([True, False, None]), st.booleans()),
    st.builds(Batch, _DEVICES, st.just(STEP)),
    st.builds(Placed, _DEVICES, st.just(STEP)),
    st.builds(DeviceHandle, _DEVICES),
    st.builds(Module, st.integers(1, 3), st.just("Net"), st.just(STEP)),
)
VALUES = st.recursive(
    _LEAVES, lambda inner: st.builds(Tuple, st.tuples(inner, inner)), max_leaves=4
)


@given(VALUES)
def test_joining_a_value_with_itself_changes_nothing(value):
    assert join(value, value) == value
    assert join(value, None) == value
    assert join(None, value) == value


@given(VALUES, VALUES)
def test_paths_have_no_order(one, other):
    assert join(one, other) == join(other, one)


@given(VALUES, VALUES, VALUES)
def test_joining_three_paths_does_not_depend_on_how(one, other, third):
    assert join(join(one, other), third) == join(one, join(other, third))


@given(VALUES, VALUES)
def test_a_join_is_stable(one, other):
    joined = join(one, other)
    assert join(joined, one) == joined
    assert join(joined, other) == joined


def test_two_devices_make_none():
    joined = join(tensor(CPU), tensor(CUDA))
    assert isinstance(joined, Tensor)
    assert isinstance(joined.device, Unsure)


def test_none_is_the_absence_of_a_tensor():
    assert join(NONE, tensor(CUDA)) == tensor(CUDA)


def test_a_number_or_a_tensor_may_be_a_scalar():
    joined = join(Const(0), tensor(CUDA, scalar=False))
    assert isinstance(joined, Tensor)
    assert joined.scalar is None


def test_two_modules_stay_two():
    one, other = Module(1, "A", STEP), Module(2, "B", STEP)
    assert join(one, other) == OneOf((one, other))


def test_history_is_no_difference():
    assert tensor() == Tensor(CPU, Step(Verb.MOVED, "there", CPU), False, False)


def a_state(**values):
    state = State()
    for name, value in values.items():
        state.write("frame", name, value)
    return state


def test_a_fork_goes_its_own_way():
    state = a_state(x=tensor(CPU))
    other = state.fork()
    other.write("frame", "x", tensor(CUDA))
    state.write("frame", "y", HOST)
    assert state.read("frame", "x") == tensor(CPU)
    assert other.read("frame", "y") is None


def test_merging_gives_the_values_that_lost_their_device():
    state = a_state(x=tensor(CPU), y=HOST)
    other = state.fork()
    other.write("frame", "x", tensor(CUDA))
    assert state.merge(other) == [(tensor(CPU), tensor(CUDA))]
    merged = state.read("frame", "x")
    assert isinstance(merged, Tensor)
    assert isinstance(merged.device, Unsure)


def test_a_path_that_ended_has_no_say():
    state = a_state(x=tensor(CPU))
    other = state.fork()
    other.write("frame", "x", tensor(CUDA))
    other.dead = True
    assert state.merge(other) == []
    assert state.read("frame", "x") == tensor(CPU)


def test_after_a_path_that_ended_the_other_one_holds():
    state = a_state(x=tensor(CPU))
    other = state.fork()
    other.write("frame", "x", tensor(CUDA))
    state.dead = True
    state.merge(other)
    assert not state.dead
    assert state.read("frame", "x") == tensor(CUDA)


def test_changes_are_told_against_an_earlier_state():
    earlier = a_state(x=tensor(CPU), y=HOST)
    state = earlier.fork()
    state.write("frame", "x", tensor(CUDA))
    state.write("frame", "new", HOST)
    assert list(state.changes_since(earlier)) == [("frame", "x")]


@given(
    st.dictionaries(st.sampled_from("abc"), VALUES), st.dictionaries(st.sampled_from("abc"), VALUES)
)
def test_a_merge_joins_place_by_place(one, other):
    state, second = a_state(**one), a_state(**other)
    state.merge(second)
    for name in {*one, *other}:
        assert state.read("frame", name) == join(one.get(name), other.get(name))


def test_a_container_does_not_come_to_hold_itself():
    state = State()
    state.write(1, "['self']", DictOf(1, None))
    assert isinstance(state.read(1, "['self']"), Unknown)
    state.write(2, "@element", Tuple((NONE, ListOf(1, None))))
    state.write(1, "['other']", OneOf((DictOf(2, None), NONE)))
    assert isinstance(state.read(1, "['other']"), Unknown)
    state.write(1, "['third']", DictOf(3, None))
    assert state.read(1, "['third']") == DictOf(3, None)


def test_two_paths_together_make_no_container_that_holds_itself():
    state = State()
    state.reset(1)
    state.reset(2)
    other = state.fork()
    state.write(1, "[0]", ListOf(2, None))
    other.write(2, "[0]", ListOf(1, None))
    state.merge(other)
    assert isinstance(state.read(2, "[0]"), Unknown)
    assert state.read(1, "[0]") == ListOf(2, None)
