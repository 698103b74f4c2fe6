"""Nothing stays changed after `remove()`, whoever calls the model meanwhile."""

import gc
import signal
import sys
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

import runtime_guard
from runtime_guard import DeviceMismatchError, DeviceMismatchWarning
from runtime_guard.hooks.checking import Checking
from tests.guard.protection import Net, both, image

PLACES = {
    "torch.nn.Module": nn.Module,
    "torch.nn.modules.module": modules,
    "torch.optim.Optimizer": torch.optim.Optimizer,
    "torch.optim.optimizer": optimizers,
    "torch.Tensor": torch.Tensor,
    "torch.jit": torch.jit,
    "torch.jit._recursive": torch.jit._recursive,
    "torch.jit._script": torch.jit._script,
    "torch.multiprocessing": torch.multiprocessing,
    "torch.multiprocessing.spawn": torch.multiprocessing.spawn,
    "torch": torch,
    "sys": sys,
    "threading": threading,
    "threading.Thread": threading.Thread,
    "warnings": warnings,
    "signal": signal,
}
# What the interpreter itself writes: the last exception, and what was imported meanwhile.
WRITTEN = {"last_exc", "last_type", "last_value", "last_traceback", "_clear_type_descriptors"}


def state() -> dict[str, object]:
    """What each place holds; of containers, what is in them."""
    found: dict[str, object] = {}
    for place, owner in PLACES.items():
        for name, value in list(vars(owner).items()):
            if name in WRITTEN or isinstance(value, type(sys)):
                continue
            contents = value
            if isinstance(value, dict) and "hook" in name:
                contents = dict(value)
            elif isinstance(value, list) and name in ("meta_path", "path_hooks", "filters"):
                contents = list(value)
            found[f"{place}.{name}"] = contents
    return found


def changed(before: dict[str, object]) -> list[str]:
    after = state()
    return [
        name
        for name in {*before, *after}
        if name not in before
        or name not in after
        or (before[name] is not after[name] and before[name] != after[name])
    ]


def traces(model: nn.Module) -> list[dict[str, object]]:
    """Everything that the modules hold, the hooks among them."""
    return [
        {
            name: dict(value) if isinstance(value, dict) else value
            for name, value in vars(module).items()
        }
        for module in model.modules()
    ]


def use(model: nn.Module, handle) -> None:
    optimizer = torch.optim.SGD(model.parameters())
    model(image()).sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    handle.step()
    with pytest.raises(DeviceMismatchError):
        model(image("meta"))


@pytest.fixture(scope="module", autouse=True)
def everything_is_imported():
    """What is imported at first use changes its package, once, whoever imports it."""
    for handle in (
        runtime_guard.guard(model := Net(), meta=True),
        runtime_guard.install(meta=True),
    ):
        with handle:
            use(model, handle)
        handle.remove()


@both
def test_removing_leaves_nothing_changed(protect):
    model = Net()
    before, held = state(), traces(model)
    handle = protect(model, meta=True)
    assert changed(before) or traces(model) != held
    use(model, handle)
    handle.remove()
    assert changed(before) == []
    for module, was in zip(traces(model), held, strict=True):
        assert module.keys() == was.keys()
        for name in module:
            if "hook" in name:
                assert module[name] == was[name]


@both
def test_the_end_of_its_steps_leaves_the_calls_as_they_were(protect):
    model, call = Net(), nn.Module.__call__
    with protect(model, steps=1) as handle:
        handle.step()
        assert nn.Module.__call__ is call
        assert not any(module._forward_pre_hooks for module in model.modules())


@both
def test_an_exception_that_leaves_the_block_leaves_nothing_changed(protect):
    model, before = Net(), state()
    with pytest.raises(DeviceMismatchError), protect(model, meta=True):
        model(image("meta"))
    assert changed(before) == []


@pytest.mark.parametrize("first", [0, 1, 2])
def test_guards_are_removed_in_any_order(first):
    model, before = Net(), state()
    handles = [
        runtime_guard.guard(model, meta=True),
        runtime_guard.install(meta=True),
        runtime_guard.guard(model.body, meta=True, action="warn"),
    ]
    handles.insert(0, handles.pop(first))
    model(image())
    for handle in handles:
        handle.remove()
        model(image())
    assert changed(before) == []
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_two_installed_guards_are_removed_in_any_order():
    before, model = state(), Net()
    first, second = runtime_guard.install(meta=True), runtime_guard.install(meta=True)
    first.remove()
    with pytest.raises(DeviceMismatchError):
        model(image("meta"))
    second.remove()
    model(image())
    assert changed(before) == []


@both
def test_a_guarded_model_is_let_go_of(protect):
    model = Net()
    gone = weakref.ref(model)
    handle = protect(model)
    model(image())
    handle.remove()
    del model, handle
    gc.collect()
    assert gone() is None


# --- threads


@pytest.fixture
def quick_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@both
@pytest.mark.parametrize("action", ["raise", "move"])
def test_threads_call_while_others_guard_and_remove(protect, action, quick_switches):
    before, over = state(), threading.Event()
    model = Net().eval()
    expected = model(image(), scale=2)

    def call() -> int:
        calls = 0
        while not over.is_set():
            assert torch.equal(model(image(), scale=2), expected)
            calls += 1
        return calls

    def toggle() -> None:
        for _ in range(200):
            with protect(model, action=action):
                pass

    with ThreadPoolExecutor() as threads:
        callers = [threads.submit(call) for _ in range(2)]
        togglers = [threads.submit(toggle) for _ in range(2)]
        try:
            for toggler in togglers:
                toggler.result()
        finally:
            over.set()
        assert all(caller.result() > 0 for caller in callers)
    assert not any(module._forward_pre_hooks for module in model.modules())
    assert changed(before) == []


@both
def test_a_guard_may_be_removed_while_its_model_is_being_called(protect):
    model = Net().eval()
    expected = model(image(), scale=2)
    # As another thread may, between torch's look at the hooks and its call of ours.
    handles: list[Checking] = []
    model.head.register_forward_pre_hook(lambda *_: handles.pop().remove() if handles else None)
    handles.append(protect(model))
    assert torch.equal(model(image(), scale=2), expected)
    assert torch.equal(model(image(), scale=2), expected)
    assert not model.head._forward_pre_hooks_with_kwargs


@both
def test_every_thread_finds_its_own_mistake_and_each_place_is_kept_once(protect):
    model = Net().eval()

    def call(wrong: bool) -> str:
        try:
            model(image("meta" if wrong else "cpu"))
        except DeviceMismatchError as error:
            return error.mismatches[0].argument
        return ""

    with protect(model, meta=True) as handle, ThreadPoolExecutor(4) as threads:
        found = list(threads.map(call, [number % 2 == 0 for number in range(40)]))
    assert found == ["input", ""] * 20
    assert len(handle.mismatches) == 1


@both
@pytest.mark.filterwarnings("always::runtime_guard.DeviceMismatchWarning")
def test_what_several_threads_move_is_counted_in_full(protect):
    model = nn.Linear(4, 2, bias=False).to("meta")

    def call(_: int) -> None:
        model(image())

    with (
        protect(model, meta=True, action="move") as handle,
        pytest.warns(DeviceMismatchWarning) as warned,
        ThreadPoolExecutor(4) as threads,
    ):
        list(threads.map(call, range(40)))
    assert len(warned) == 1
    assert sum(moved.count for moved in handle.moved) == 40


@pytest.mark.filterwarnings("ignore:.*torch.jit.*deprecated:DeprecationWarning")
def test_scripting_outlives_a_wrapper_that_came_between_two_guards(monkeypatch):
    scripting = torch.jit._recursive
    model = nn.Sequential(nn.Linear(2, 2))
    first = runtime_guard.guard(model)
    ours = scripting.create_script_module

    def theirs(*args, **kwargs):
        return ours(*args, **kwargs)

    monkeypatch.setattr(scripting, "create_script_module", theirs)
    first.remove()
    with runtime_guard.guard(model):
        assert torch.jit.script(model)(torch.zeros(1, 2)).shape == (1, 2)
    assert scripting.create_script_module is theirs
    monkeypatch.undo()
    scripting.create_script_module = vars(ours).get("previous", ours)
