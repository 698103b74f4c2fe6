"""The guard of a model: what it does about a mismatch, for how long, and what it leaves behind."""

import gc
import os
import warnings
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard import DeviceMismatchError, DeviceMismatchWarning


class Net(nn.Module):
    """Without biases: `meta` then lets wrong devices pass, which CUDA would not."""

    def __init__(self, device="meta"):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4, bias=False), nn.ReLU())
        self.head = nn.Linear(4, 2, bias=False)
        self.to(device)

    def forward(self, batch):
        return self.head(self.body(batch["image"]))


def batch(device):
    return {"image": torch.zeros(3, 4, device=device)}


def run_three_times(model, *args, **kwargs):
    for _ in range(3):
        model(*args, **kwargs)


def hooks_of(model):
    return [hook for module in model.modules() for hook in module._forward_pre_hooks.values()]


def test_a_mismatch_is_raised_with_module_argument_and_both_lines():
    model = Net()
    with (
        runtime_guard.guard(model, meta=True) as handle,
        pytest.raises(DeviceMismatchError) as caught,
    ):
        model(batch("cpu"))
    (mismatch,) = caught.value.mismatches
    assert mismatch.name == "body.0 (Linear)"
    assert mismatch.argument == "input"
    assert (mismatch.tensor.device, mismatch.expected) == ("cpu", "meta")
    assert mismatch.anchor == "parameter 'weight'"
    assert mismatch.failed_at is not None
    assert mismatch.failed_at.text == 'return self.head(self.body(batch["image"]))'
    assert mismatch.entered_at is not None
    assert mismatch.entered_at.text == 'model(batch("cpu"))'
    assert handle.mismatches == [mismatch]


def test_a_right_call_passes_without_a_word():
    model = Net()
    with runtime_guard.guard(model, meta=True) as handle:
        assert model(batch("meta")).shape == (3, 2)
    assert handle.mismatches == []


def test_to_warn_says_each_place_once_and_lets_the_call_go_on():
    model = Net()
    with (
        runtime_guard.guard(model, action="warn", meta=True) as handle,
        pytest.warns(DeviceMismatchWarning) as caught,
    ):
        run_three_times(model, batch("cpu"))
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}
    assert [mismatch.name for mismatch in handle.mismatches] == ["body.0 (Linear)", "head (Linear)"]


def test_to_move_moves_the_argument_and_counts_the_bytes():
    class Root(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(4, device="meta"))

        def forward(self, pair, *, options):
            assert {pair[0].device.type, options["bias"].device.type} == {"meta"}
            return pair[0] * self.scale + options["bias"]

    model, pair, options = Root(), (torch.zeros(2, 4), 1), {"bias": torch.zeros(4)}
    with (
        runtime_guard.guard(model, action="move", meta=True) as handle,
        pytest.warns(DeviceMismatchWarning) as caught,
    ):
        run_three_times(model, pair, options=options)
    assert len(caught) == 1
    assert {(moved.mismatch.argument, moved.count, moved.bytes) for moved in handle.moved} == {
        ("pair[0]", 3, 96),
        ('options["bias"]', 3, 48),
    }
    assert pair[0].device.type == options["bias"].device.type == "cpu"


def test_what_is_moved_is_counted_by_its_own_size():
    model = nn.Linear(4, 2, bias=False, device="meta")

    def epoch():
        for rows in (8, 8, 3):
            model(torch.zeros(rows, 4))

    with runtime_guard.guard(model, action="move", meta=True) as handle:
        with pytest.warns(DeviceMismatchWarning):
            epoch()
        epoch()
    (moved,) = handle.moved
    assert (moved.count, moved.bytes) == (6, 2 * (8 + 8 + 3) * 4 * 4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_counts_what_it_moves_itself():
    model = nn.Linear(4, 2, bias=False, device="meta")
    with runtime_guard.guard(model, action="move", meta=True) as handle:
        with pytest.warns(DeviceMismatchWarning):
            model(torch.zeros(1, 4))
        child = os.fork()
        if not child:
            os._exit(len(handle.moved))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(handle.moved) == 1


def test_a_module_called_at_two_lines_is_reported_at_both():
    model = nn.Linear(4, 2, bias=False, device="meta")

    def epoch():
        model(torch.zeros(1, 4))
        model(torch.zeros(2, 4))

    with runtime_guard.guard(model, action="warn", meta=True) as handle:
        with pytest.warns(DeviceMismatchWarning) as caught:
            epoch()
        epoch()
    assert len(caught) == len(handle.mismatches) == 2


def test_steps_are_those_of_the_models_optimizer_and_the_guard_ends_after_them():
    model = Net("cpu")
    optimizer = torch.optim.SGD(model.parameters())
    other = torch.optim.SGD(nn.Linear(1, 1).parameters())
    handle = runtime_guard.guard(model, steps=2)
    checked = []
    for _ in range(4):
        checked.append(bool(hooks_of(model)))
        other.step()
        optimizer.step()
    assert checked == [True, True, False, False]
    assert handle.steps_done == 2
    handle.remove()


def test_two_optimizers_that_take_turns_make_one_step_together():
    model = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])
    optimizers = [torch.optim.SGD(part.parameters()) for part in model]
    with runtime_guard.guard(model) as handle:
        for _ in range(3):
            for optimizer in optimizers:
                optimizer.step()
    assert handle.steps_done == 3


def test_every_checks_one_step_of_so_many():
    model = Net("cpu")
    checked = []
    with runtime_guard.guard(model, every=3) as handle:
        for _ in range(7):
            checked.append(bool(hooks_of(model)))
            handle.step()
    assert checked == [True, False, False, True, False, False, True]


def test_only_and_skip_choose_modules_by_path():
    model = Net()
    with runtime_guard.guard(model, only="head", meta=True):
        model.body(torch.zeros(1, 4))
        with pytest.raises(DeviceMismatchError):
            model.head(torch.zeros(1, 4))
    with runtime_guard.guard(model, skip="body.*", meta=True):
        model.body(torch.zeros(1, 4))
        with pytest.raises(DeviceMismatchError):
            model.head(torch.zeros(1, 4))


def test_modules_in_a_plain_list_are_guarded_too():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(2, 2, device="meta")]

        def forward(self, value):
            return self.layers[0](value)

    model = Listed()
    with (
        runtime_guard.guard(model, meta=True),
        pytest.raises(DeviceMismatchError, match=r"layers\[0\] \(Linear\)"),
    ):
        model(torch.zeros(1, 2))
    assert not model.layers[0]._forward_pre_hooks


def test_a_hook_that_runs_later_and_moves_the_arguments_is_waited_for():
    model = nn.Linear(4, 2, device="meta")
    handle = runtime_guard.guard(model, meta=True)
    moving = model.register_forward_pre_hook(lambda module, args: (args[0].to("meta"),))
    for _ in range(3):
        assert model(torch.zeros(1, 4)).device.type == "meta"
    moving.remove()
    with pytest.raises(DeviceMismatchError):
        model(torch.zeros(1, 4))
    handle.remove()


def test_the_handle_decorates_a_function_and_is_in_effect_while_it_runs():
    model = Net()

    @runtime_guard.guard(model, meta=True)
    def run(device):
        assert hooks_of(model)
        return model(batch(device))

    assert not hooks_of(model)
    assert run("meta").shape == (3, 2)
    with pytest.raises(DeviceMismatchError):
        run("cpu")
    assert not hooks_of(model)


def test_removing_twice_and_attaching_again_do_no_harm():
    model = Net()
    handle = runtime_guard.guard(model, meta=True)
    handle.remove()
    handle.remove()
    assert not hooks_of(model)
    handle.attach()
    handle.attach()
    assert len(hooks_of(model)) == 2
    handle.remove()


def test_two_guards_of_one_model_are_removed_one_by_one():
    model = Net()
    first, second = (runtime_guard.guard(model, meta=True) for _ in range(2))
    first.remove()
    with pytest.raises(DeviceMismatchError):
        model(batch("cpu"))
    second.remove()
    assert not hooks_of(model)


def test_a_guard_whose_handle_nobody_keeps_still_ends_after_its_steps():
    model = Net("cpu")
    optimizer = torch.optim.SGD(model.parameters())
    runtime_guard.guard(model, steps=1)
    gc.collect()
    assert hooks_of(model)
    optimizer.step()
    assert not hooks_of(model)


def test_a_guard_does_not_keep_a_model_alive():
    model = Net("cpu")
    gone = weakref.ref(model)
    runtime_guard.guard(model)
    del model
    gc.collect()
    assert gone() is None


def test_what_is_left_behind_is_named_when_the_guard_is_made():
    model = Net()
    model.mask = torch.ones(3)
    with pytest.warns(runtime_guard.PlacementWarning, match="mask"):
        handle = runtime_guard.guard(model)
    assert [entry.path for entry in handle.placement.left_behind] == ["mask"]
    handle.remove()


def test_only_a_module_can_be_guarded():
    with pytest.raises(TypeError, match=r"guard\(\) takes a torch.nn.Module, not dict"):
        runtime_guard.guard({})


def test_a_guard_says_what_it_does():
    model = Net("cpu")
    handle = runtime_guard.guard(model, action="warn")
    assert repr(handle).startswith("<guard of Net: checks 2 modules, Settings(action='warn'")
    handle.remove()
    assert "checks nothing now" in repr(handle)


def test_every_module_of_the_process_is_guarded_once_installed():
    call = nn.Module.__call__
    with runtime_guard.install(meta=True) as handle:
        with pytest.raises(DeviceMismatchError) as caught:
            Net()(batch("cpu"))
        with pytest.raises(DeviceMismatchError, match="MSELoss"):
            nn.MSELoss()(torch.zeros(2), torch.zeros(2, device="meta"))
        Net()(batch("meta"))
    assert [mismatch.name for mismatch in caught.value.mismatches] == ["body.0 (Linear)"]
    assert len(handle.mismatches) == 2
    assert nn.Module.__call__ is call


def test_an_installed_guard_counts_steps_and_ends_after_them():
    call = nn.Module.__call__
    optimizer = torch.optim.SGD(Net("cpu").parameters())
    with runtime_guard.install(steps=1):
        assert nn.Module.__call__ is not call
        optimizer.step()
        assert nn.Module.__call__ is call


def test_an_installed_guard_takes_paths_from_the_outermost_module():
    with runtime_guard.install(meta=True, skip="body.*"):
        model = Net()
        with pytest.raises(DeviceMismatchError, match=r"^head \(Linear\)"):
            model(batch("cpu"))


def test_a_wrapper_around_ours_outlives_us_and_works():
    call = nn.Module.__call__
    handle = runtime_guard.install(meta=True)
    ours = nn.Module.__call__

    def theirs(module, *args, **kwargs):
        return ours(module, *args, **kwargs)

    nn.Module.__call__ = theirs
    handle.remove()
    assert nn.Module.__call__ is theirs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Net()(batch("cpu")).shape == (3, 2)
    nn.Module.__call__ = call
