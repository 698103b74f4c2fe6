"""The note on torch's own errors: in which module, which argument, since which line, what to do.

`meta` is the second device: torch refuses to add, concatenate or compare across it. Where it says
something else than CUDA would, a module raises CUDA's text.
"""

import builtins
import contextlib
import copy
import gc
import pickle
import traceback
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.parallel import DataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

from runtime_guard import DeviceMismatchError
from runtime_guard.messages.excepthooks import Explanations
from runtime_guard.messages.explain import annotate, is_device_error, notes_of
from runtime_guard.messages.message import HEAD

META = "meta"
OF_CUDA = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and"
)


def note_of(function, *args) -> str:
    """The note on the error that a function raises, without its head."""
    error = raised(function, *args)
    text = str(error)
    assert annotate(error)
    said = said_by(error)
    assert said.startswith(text)
    assert said.count(HEAD) == 1
    return said.partition(HEAD)[2]


def unfolded(note: str) -> str:
    """The note in one line."""
    return " ".join(note.split())


def raised(function, *args) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests are about any
        function(*args)
    return caught.value


def said_by(error: BaseException | None) -> str:
    """All that a traceback ends with; in Python 3.10 the note is a part of the text."""
    assert error is not None
    return "\n".join([str(error), *notes_of(error)])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x):
        return self.body(x)


def test_the_module_its_argument_both_lines_and_the_fix_are_named():
    def train(model, loader):
        device = torch.device("meta")
        for data in loader:
            model(data)
        return device

    headline, argument, failed, entered, fix = note_of(
        train, Net().to(META), [torch.ones(3, 4)]
    ).splitlines()
    assert (
        headline == "body.0 (Linear) has parameter 'weight' on meta, but argument 'input' is on cpu"
    )
    assert argument == "  input:      float32[3, 4] on cpu"
    assert failed.startswith("  failed at:  ")
    assert failed.endswith(": return self.body(x)")
    assert entered.startswith("  entered at: ")
    assert entered.endswith(": model(data)")
    assert fix.startswith("  to fix it:  write `data = data.to(device)` before ")


def test_the_error_keeps_its_text_its_type_and_its_traceback():
    with pytest.raises(RuntimeError) as caught:
        Net().to(META)(torch.ones(3, 4))
    before = caught.value.__traceback__
    assert annotate(caught.value)
    assert caught.value.__traceback__ is before
    printed = "".join(traceback.format_exception(caught.value))
    assert "Tensor on device" in printed
    assert printed.index("Tensor on device") < printed.index(HEAD)


def test_an_error_is_explained_once():
    error = raised(Net().to(META), torch.ones(3, 4))
    assert annotate(error)
    assert not annotate(error)
    assert said_by(error).count(HEAD) == 1


def test_the_users_own_notes_stay():
    error: Any = raised(Net().to(META), torch.ones(3, 4))
    if not hasattr(error, "add_note"):
        pytest.skip("Python 3.10 has no notes")
    error.add_note("epoch 3")
    assert annotate(error)
    assert error.__notes__[0] == "epoch 3"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        ValueError("bad batch"),
        KeyboardInterrupt(),
        SystemExit(1),
        RuntimeError(),
    ],
)
def test_other_errors_are_left_alone(error):
    assert not annotate(error)
    assert HEAD not in said_by(error)


def test_a_mismatch_that_a_guard_found_says_it_all_itself():
    error = DeviceMismatchError("x is on cpu")
    assert is_device_error(error)
    assert not annotate(error)
    outer = RuntimeError(OF_CUDA)
    outer.__cause__ = error
    assert not annotate(outer)


def test_the_innermost_of_a_chain_gets_the_note():
    def step():
        try:
            Net().to(META)(torch.ones(3, 4))
        except RuntimeError as error:
            raise RuntimeError(f"step 3: {error}") from error

    error = raised(step)
    assert annotate(error)
    assert notes_of(error) == []
    assert HEAD in said_by(error.__cause__)


def test_an_error_on_the_way_out_of_one_shows_the_note_of_that():
    def step():
        try:
            Net().to(META)(torch.ones(3, 4))
        except RuntimeError:
            return {0: 1}[2]

    error = raised(step)
    assert annotate(error)
    assert HEAD in said_by(error.__context__)


def test_a_cause_that_no_traceback_shows_is_not_explained():
    def step():
        try:
            Net().to(META)(torch.ones(3, 4))
        except RuntimeError:
            raise ValueError("bad") from None

    assert not annotate(raised(step))


def test_errors_of_a_group_are_explained_one_by_one():
    group = getattr(builtins, "ExceptionGroup", None)
    if group is None:
        pytest.skip("Python 3.10 has no groups")
    parts: list[Exception] = [RuntimeError(OF_CUDA), ValueError("other")]
    assert annotate(group("tasks", parts))
    assert HEAD in said_by(parts[0])
    assert HEAD not in said_by(parts[1])


def test_an_error_that_bears_no_note_is_left_as_it_is():
    class Stubborn(RuntimeError):
        def add_note(self, note):
            raise TypeError("no notes")

    assert not annotate(Stubborn(OF_CUDA))


def test_an_error_whose_text_cannot_be_had_is_left_as_it_is():
    class Broken(RuntimeError):
        args = property(lambda self: 1 / 0)

    assert not annotate(Broken(OF_CUDA))


def test_a_plain_attribute_of_the_module_is_named():
    class Masked(Net):
        def __init__(self):
            super().__init__()
            self.mask = torch.ones(2)

        def forward(self, x):
            return super().forward(x) * self.mask

    note = note_of(Masked().to(META), torch.ones(3, 4, device=META))
    assert note.startswith("Masked has")
    assert "but attribute `self.mask` is on cpu" in note
    assert 'write `self.register_buffer("mask", …, persistent=False)` in Masked.' in note


def test_a_module_whose_own_tensors_are_apart_is_named():
    norm = nn.BatchNorm1d(4).to(META)
    norm.running_mean = torch.zeros(4)
    note = note_of(nn.Sequential(norm), torch.ones(3, 4, device=META))
    assert note.startswith(
        "0 (BatchNorm1d) has parameter 'weight' on meta, but buffer 'running_mean' is on cpu\n"
    )


def test_a_layer_in_a_plain_list_is_named_by_its_place():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = [nn.Linear(4, 4)]

        def forward(self, x):
            return self.blocks[0](x)

    note = note_of(Listed().to(META), torch.ones(3, 4, device=META))
    assert note.startswith("blocks[0] (Linear) has parameter 'weight' on cpu, but argument 'input'")
    assert "`self.blocks = nn.ModuleList(…)` in Listed.__init__" in note


def test_the_arguments_of_a_function_of_torch_are_named():
    def train(logits, labels):
        weights = torch.ones(2)
        return nn.functional.cross_entropy(logits, labels, weight=weights)

    labels = torch.zeros(3, dtype=torch.long, device=META)
    note = note_of(train, torch.ones(3, 2, device=META), labels)
    assert note.startswith(
        "cross_entropy() has argument 'input' on meta, but argument 'weight' is on cpu\n"
    )
    assert "write `weights = torch.ones(2, device=logits.device)` at" in note
    assert note.endswith("  on meta:    logits, labels\n  on cpu:     weights")


def test_the_tensors_of_an_expression_are_listed_by_device():
    def mix(scores, batch, unrelated):
        masked = [1, batch["mask"]]
        mixed = scores * masked[1]
        return mixed, unrelated

    here, there = torch.ones(2), torch.ones(2, device=META)
    headline, *_, on_meta, on_cpu = note_of(mix, there, {"mask": here}, here + 1).splitlines()
    assert headline == "mix() has variable 'scores' on meta, but variable `masked[1]` is on cpu"
    assert on_meta == "  on meta:    scores"
    assert on_cpu == "  on cpu:     masked[1]"


def test_only_the_failing_part_of_a_line_is_looked_at():
    pytest.importorskip("tomllib", reason="positions within a line came with Python 3.11")

    def mix(a, b, c, d):
        return (a + b) * 2 + (c + d)

    here, there = torch.ones(2), torch.ones(2, device=META)
    assert note_of(mix, there, there, there, here).startswith(
        "mix() has variable 'c' on meta, but variable 'd' is on cpu"
    )


def test_zero_dim_tensors_are_not_blamed_where_another_may_be():
    def mix(a, b, scale):
        return torch.cat([a * scale, b])

    note = note_of(mix, torch.ones(2, device=META), torch.ones(2), torch.tensor(2.0))
    assert note.startswith("mix() has variable 'a' on meta, but variable 'b' is on cpu")


def test_the_state_of_an_optimizer_is_named():
    parameter = nn.Parameter(torch.ones(3, device=META))
    optimizer = torch.optim.Adam([parameter])

    def step():
        parameter.grad = torch.ones(3, device=META)
        optimizer.step()

    step()
    optimizer.state[parameter]["exp_avg"] = torch.zeros(3)
    note = note_of(step)
    assert note.startswith(
        "adam() has argument `params[0]` on meta, but argument `exp_avgs[0]` is on cpu"
    )
    assert "load its state after" in note


def test_the_parts_of_a_torn_batch_are_bounded():
    def join(first, parts):
        return torch.cat([first, *parts])

    note = note_of(join, torch.ones(1, device=META), [torch.ones(1) for _ in range(20)])
    assert "\nand 12 more\n" in note
    assert len(note.splitlines()) < 24


def test_what_goes_to_numpy_has_to_come_to_the_cpu():
    def score(codes):
        return codes.numpy()

    note = note_of(score, torch.ones(2, device=META))
    assert note.startswith("`codes` is on meta, and has to be on cpu for this\n")
    assert "write `codes.cpu().numpy()` in place of `codes.numpy()` at\n" in note


def test_what_requires_a_gradient_is_detached_on_the_way_once():
    def leave(loss):
        return loss.numpy()

    def detach(loss):
        return loss.detach().numpy()

    def convert(loss):
        return np.asarray(loss)

    def conclude(losses):
        return [loss.softmax(0).numpy(force=False) for loss in losses]

    loss = torch.ones(2, device=META, requires_grad=True)
    after = "`loss.detach().cpu().numpy()` in place of"
    assert f"{after} `loss.numpy()` at" in unfolded(note_of(leave, loss))
    assert f"{after} `loss.detach().numpy()` at" in unfolded(note_of(detach, loss))
    assert "`loss.detach().cpu()` in place of `loss` at" in unfolded(note_of(convert, loss))
    assert "`loss.softmax(0).detach().cpu().numpy(force=False)` in place of" in unfolded(
        note_of(conclude, [loss])
    )


def test_the_lengths_of_a_packed_sequence_stay_on_the_cpu():
    def pack(x, lengths):
        return nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)

    note = note_of(pack, torch.ones(1, 3, 2), torch.tensor([3], device=META))
    assert note.startswith("`lengths` is on meta")
    assert "write `lengths.cpu()` in place of `lengths` at " in unfolded(note)


def test_a_checkpoint_of_another_machine_is_mapped():
    def load():
        torch.serialization.validate_cuda_device("cuda:0")

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    note = note_of(load)
    assert note.startswith("write `torch.load(…, map_location=device)`\n  failed at:  ")


def test_a_device_that_is_not_there_is_not_written_down():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert note_of(lambda: torch.ones(1).to("cuda")).startswith("write `device = 'cuda' if")


def test_where_nothing_is_out_of_place_the_text_and_the_line_are_all_there_is():
    def step():
        x = torch.ones(1)
        raise RuntimeError(f"{OF_CUDA} cpu! {len(x)}")

    note = note_of(step)
    assert note.startswith("tensors on two devices met; which ones cannot be seen from here\n")
    assert note.endswith("  on cpu:     x")


def test_the_text_of_cuda_is_explained_by_what_the_module_has():
    class Refusing(nn.Linear):
        def forward(self, x):
            raise RuntimeError(OF_CUDA + " cpu!")

    note = note_of(nn.Sequential(Refusing(4, 4)).to(META), torch.ones(3, 4))
    assert note.startswith(
        "0 (Refusing) has parameter 'weight' on meta, but argument 'x' is on cpu"
    )


def test_a_convolution_on_the_cpu_inside_a_model_that_moved_is_named():
    class Refusing(nn.Conv1d):
        def forward(self, x):
            raise RuntimeError(
                "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should "
                "be the same"
            )

    model = nn.Sequential(nn.Conv1d(1, 1, 1).to(META), Refusing(1, 1, 1))
    note = note_of(model, torch.ones(2, 1, 3, device=META))
    assert note.startswith("1 (Refusing) has parameter 'weight' on cpu, but argument 'x' is on")
    assert "is made: 1 is still on cpu" in note


def test_recomputation_is_explained_like_the_first_computation():
    class Once(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            self.calls += 1
            if self.calls > 1:
                raise RuntimeError(OF_CUDA + " cpu!")
            return self.linear(x)

    def train():
        out = checkpoint(Once(), torch.ones(3, 4, requires_grad=True), use_reentrant=False)
        out.sum().backward()

    assert 'raise RuntimeError(OF_CUDA + " cpu!")' in note_of(train)


def test_an_error_of_a_replica_is_explained_from_its_text():
    class Replicated(nn.Module):
        def forward(self, x):
            raise RuntimeError(OF_CUDA + " cuda:1!")

    def in_replica(module, x):
        try:
            module(x)
        except RuntimeError:
            caught = torch._utils.ExceptionWrapper(where="in replica 1 on device 1")
        caught.reraise()

    note = note_of(in_replica, DataParallel(Replicated()), torch.ones(2))
    assert note.startswith("it failed in replica 1 on device 1\n  failed at:  ")
    assert 'raise RuntimeError(OF_CUDA + " cuda:1!")' in note
    assert "device=x.device" in note


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.ones(2, device=META) + torch.ones(2)


def test_an_error_of_a_worker_is_explained_from_its_text():
    loader = DataLoader(Samples(), num_workers=1)
    note = note_of(lambda: list(loader))
    assert note.startswith("it failed in DataLoader worker process 0\n  failed at:  ")
    assert "return torch.ones(2, device=META) + " in note


def test_a_compiled_function_is_explained():
    torch._dynamo.reset()
    compiled = torch.compile(lambda a, b: a + b, backend="eager")

    def call(a, b):
        return compiled(a, b)

    try:
        note = note_of(call, torch.ones(2), torch.ones(2, device=META))
    finally:
        torch._dynamo.reset()
    assert "on meta" in note
    assert "failed at" in note


def test_an_explained_error_can_be_copied_and_sent():
    error = raised(Net().to(META), torch.ones(3, 4))
    assert annotate(error)
    for copied in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert copied.args == error.args


def test_nothing_is_kept_alive_by_an_explanation():
    def step():
        batch = torch.ones(3, 4)
        kept.append(weakref.ref(batch))
        with contextlib.suppress(RuntimeError), Explanations():
            model(batch)

    kept: list[weakref.ref[torch.Tensor]] = []
    model = Net().to(META)
    gc.collect()
    gc.disable()
    try:
        step()
        assert kept[0]() is None
    finally:
        gc.enable()
