"""What guarding does to the rest of torch: nothing. Each of its tools gives what it gives without.

`meta` serves as the second device. Beside each thing that must go on working stands the nearest
one that must still be found.
"""

import contextlib
import copy
import io
import subprocess
import sys

import pytest
import torch
from torch import fx, nn
from torch._dynamo.testing import CompileCounter
from torch._dynamo.utils import counters
from torch.func import functional_call, grad, vmap
from torch.utils.checkpoint import checkpoint

import runtime_guard
from runtime_guard import DeviceMismatchError
from tests.guard.protection import Net, both, image

scripts = pytest.mark.filterwarnings("ignore:.*torch.jit.*deprecated:DeprecationWarning")


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()
    counters.clear()


def compiled(model, **options):
    backend = CompileCounter()
    return torch.compile(model, backend=backend, **options), backend


def graph_breaks() -> int:
    return sum(int(count) for count in counters["graph_break"].values())


FORMS = {
    "positional": ((image(),), {}),
    "keyword": ((), {"batch": image(), "scale": torch.tensor(2.0)}),
    "dictionary": (({"image": image()},), {"scale": image()[:, :2]}),
    "nested": (([(image(), 1)][0],), {}),
}


# --- torch.compile


@both
@pytest.mark.parametrize("form", FORMS)
def test_a_guarded_model_compiles_to_one_graph_and_never_again(protect, form):
    model, (args, kwargs) = Net().eval(), FORMS[form]
    expected = model(*args, **kwargs)
    with protect(model):
        run, backend = compiled(model, fullgraph=True)
        for _ in range(20):
            assert torch.equal(run(*args, **kwargs), expected)
    assert backend.frame_count == 1
    assert graph_breaks() == 0
    assert counters["stats"]["unique_graphs"] == 1


@both
def test_compiling_in_place_is_one_graph_too(protect):
    model = Net().eval()
    expected, backend = model(image()), CompileCounter()
    with protect(model):
        model.compile(backend=backend, fullgraph=True)
        for _ in range(20):
            assert torch.equal(model(image()), expected)
    assert backend.frame_count == 1


@both
def test_the_number_of_compilations_is_that_without_a_guard(protect):
    lengths = [3, 3, 5, 5, 7, 9, 3]

    def compilations(model) -> int:
        torch._dynamo.reset()
        run, backend = compiled(model)
        for length in lengths:
            run(torch.ones(length, 4))
        return int(backend.frame_count)

    bare = compilations(Net())
    model = Net()
    with protect(model):
        assert compilations(model) == bare


@both
def test_a_compiled_model_trains_as_it_does_without(protect):
    bare = Net()
    model = copy.deepcopy(bare)
    bare(image()).square().sum().backward()
    with protect(model):
        run, backend = compiled(model)
        run(image()).square().sum().backward()
    assert backend.frame_count == 1
    for expected, parameter in zip(bare.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, expected.grad)


@both
def test_a_compiled_model_reports_an_input_on_the_wrong_device(protect):
    model = Net().eval()
    with protect(model, meta=True):
        run, _ = compiled(model)
        run(image())
        with pytest.raises(DeviceMismatchError):
            run(image("meta"))


@both
def test_a_model_compiled_whole_does_not_compile_for_an_input_on_the_wrong_device(protect):
    model = Net().eval()
    with protect(model, meta=True):
        run, _ = compiled(model, fullgraph=True)
        run(image())
        with pytest.raises(RuntimeError, match=r"Linear got .*input.* on meta.*weight.* on cpu"):
            run(image("meta"))


class Table(nn.Module):
    """Takes what CUDA takes from the CPU: a 0-dim factor, and an index."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.ones(5, 4))

    def forward(self, index, *, scale):
        return self.rows[index] * scale


@both
def test_what_may_lie_on_the_cpu_breaks_no_graph(protect):
    model = Table().to("meta")
    with protect(model, meta=True):
        run, backend = compiled(model, fullgraph=True)
        for _ in range(5):
            run(torch.arange(2), scale=torch.tensor(2.0))
        assert (backend.frame_count, graph_breaks()) == (1, 0)
        with pytest.raises(RuntimeError, match="scale"):
            run(torch.arange(2), scale=torch.ones(4))


@both
def test_a_guard_that_comes_after_the_first_compiled_call_causes_no_other(protect):
    model = Net().eval()
    run, backend = compiled(model)
    expected = run(image())
    with protect(model, meta=True):
        assert torch.equal(run(image()), expected)
        assert backend.frame_count == 1
        with pytest.raises(DeviceMismatchError):
            run(image("meta"))
    assert torch.equal(run(image()), expected)


@both
def test_a_compiled_model_has_one_version_with_a_guard_and_one_without(protect):
    model = Net().eval()
    run, backend = compiled(model)
    for _ in range(3):
        with protect(model):
            expected = run(image())
            assert torch.equal(run(image()), expected)
        for _ in range(2):
            assert torch.equal(run(image()), expected)
    assert backend.frame_count <= 2
    assert graph_breaks() == 0


@both
def test_checking_some_steps_only_compiles_no_version_more(protect):
    model = Net().eval()
    with protect(model, every=2, steps=6) as handle:
        run, backend = compiled(model)
        for _ in range(10):
            run(image())
            handle.step()
    assert backend.frame_count <= 2


# --- export, jit, fx


@both
def test_an_exported_program_has_no_check_in_it(protect):
    model = Net().eval()
    bare = torch.export.export(model, (image(),))
    with protect(model):
        program = torch.export.export(model, (image(),))
    assert program.graph_module.code == bare.graph_module.code
    exported = program.module()
    assert not any(module._forward_pre_hooks for module in list(exported.modules())[1:])
    assert torch.equal(exported(image()), model(image()))


@both
def test_a_model_is_still_guarded_after_its_export(protect):
    model = Net().eval()
    with protect(model, meta=True):
        torch.export.export(model, (image(),))
        with pytest.raises(DeviceMismatchError):
            model(image("meta"))


@scripts
@both
def test_a_guarded_model_can_be_traced(protect):
    model = Net().eval()
    expected = model(image())
    with protect(model, meta=True):
        traced = torch.jit.trace(model, (image(),))
        assert torch.equal(traced(image()), expected)
        with pytest.raises(DeviceMismatchError):
            model(image("meta"))
    assert torch.equal(traced(image()), expected)
    assert operations(traced) == operations(torch.jit.trace(model, (image(),)))


def operations(traced) -> list[str]:
    return [node.kind() for node in traced.inlined_graph.nodes()]


class Scriptable(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, batch: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        return self.head(self.body(batch)) * scale


@scripts
@both
def test_a_guarded_model_can_be_scripted_saved_and_run(protect):
    model, file = Scriptable().eval(), io.BytesIO()
    expected = model(image())
    with protect(model, meta=True):
        scripted = torch.jit.script(model)
        assert torch.equal(scripted(image()), expected)
        torch.jit.save(scripted, file)
        with pytest.raises(DeviceMismatchError):
            model(image("meta"))
    file.seek(0)
    assert torch.equal(torch.jit.load(file)(image()), expected)
    assert torch.equal(scripted(image()), expected)


@scripts
@both
def test_a_scripted_part_of_a_guarded_model_is_guarded(protect):
    model = nn.Sequential(torch.jit.script(Scriptable())).eval()
    expected = model(image())
    with protect(model, meta=True):
        assert torch.equal(model(image()), expected)
        with pytest.raises((DeviceMismatchError, RuntimeError), match="meta"):
            model(image("meta"))


@both
def test_a_guarded_model_is_traced_symbolically(protect):
    model = Scriptable().eval()
    bare = fx.symbolic_trace(model).code
    with protect(model, meta=True):
        traced = fx.symbolic_trace(model)
        assert traced.code == bare
        assert torch.equal(traced(image()), model(image()))
        with pytest.raises(DeviceMismatchError):
            traced(image("meta"))


# --- copies, files


LOAD = """
import sys
sys.modules["runtime_guard"] = None
import torch
for file in sys.argv[1:]:
    model = torch.load(file, weights_only=False)
    assert model(torch.ones(3, 4)).shape == (3, 2)
    print(sum(len(module._forward_pre_hooks) for module in model.modules()))
"""


def test_a_guarded_model_is_pickled_for_where_no_guard_is(tmp_path):
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    with runtime_guard.guard(model):
        torch.save(model, tmp_path / "guarded.pt")
    with runtime_guard.install():
        torch.save(model, tmp_path / "installed.pt")
    torch.save(model, tmp_path / "bare.pt")
    files = [tmp_path / name for name in ("guarded.pt", "installed.pt", "bare.pt")]
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@both
def test_a_copy_of_a_guarded_model_works_and_the_original_is_still_guarded(protect):
    model = Net().eval()
    with protect(model, meta=True):
        twin = copy.deepcopy(model)
        assert torch.equal(twin(image()), model(image()))
        with pytest.raises(DeviceMismatchError):
            model(image("meta"))
    assert torch.equal(twin(image()), model(image()))


def test_a_copy_of_a_guarded_model_belongs_to_no_guard_unless_it_is_installed():
    model = Net().eval()
    with runtime_guard.guard(model, meta=True) as handle:
        twin = copy.deepcopy(model).to("meta")
        twin(image("meta"))
        with pytest.raises(RuntimeError) as caught:
            twin(image())
        assert not isinstance(caught.value, DeviceMismatchError)
        assert handle.mismatches == []
    with runtime_guard.install(meta=True), pytest.raises(DeviceMismatchError):
        twin(image())


@both
def test_the_state_of_a_model_is_the_same_and_loads(protect):
    model = Net()
    bare = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with protect(model, meta=True):
        state = model.state_dict()
        assert list(state) == list(bare)
        assert all(torch.equal(state[name], bare[name]) for name in bare)
        model.load_state_dict(bare)
        there = {name: tensor.to("meta") for name, tensor in bare.items()}
        model.load_state_dict(there, assign=True)
        with pytest.raises(DeviceMismatchError):
            model(image())


# --- autograd and functional use


@both
@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpointed_model_is_recomputed_as_without(protect, reentrant):
    def grads(model):
        inputs = image().requires_grad_()
        checkpoint(model, inputs, use_reentrant=reentrant).square().sum().backward()
        return [inputs.grad, *(parameter.grad for parameter in model.parameters())]

    bare = Scriptable()
    model = copy.deepcopy(bare)
    expected = grads(bare)
    with protect(model, meta=True):
        for given, wanted in zip(grads(model), expected, strict=True):
            assert torch.equal(given, wanted)
        with pytest.raises(DeviceMismatchError):
            checkpoint(model, image("meta").requires_grad_(), use_reentrant=reentrant)


@both
def test_functional_call_is_judged_by_the_tensors_that_it_brings(protect):
    model = Net().eval()
    there = {name: tensor.to("meta") for name, tensor in model.state_dict().items()}
    here = dict(model.state_dict())
    with protect(model, meta=True):
        assert torch.equal(functional_call(model, here, (image(),)), model(image()))
        assert functional_call(model, there, (image("meta"),)).shape == (3, 2)
        with pytest.raises(DeviceMismatchError):
            functional_call(model, there, (image(),))
        with pytest.raises(DeviceMismatchError):
            functional_call(model, here, (image("meta"),))


@both
def test_vmap_and_grad_see_through_the_check(protect):
    model = Scriptable()
    weights = dict(model.named_parameters())

    def loss(weights, sample):
        return functional_call(model, weights, (sample,)).square().sum()

    expected = vmap(grad(loss), in_dims=(None, 0))(weights, image())
    with protect(model, meta=True):
        given = vmap(grad(loss), in_dims=(None, 0))(weights, image())
        with pytest.raises(DeviceMismatchError):
            vmap(grad(loss), in_dims=(None, 0))(weights, image("meta"))
    for name in weights:
        torch.testing.assert_close(given[name], expected[name])


@both
def test_a_forward_that_is_called_directly_passes_and_its_children_are_checked(protect):
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 2)
            self.scale = nn.Parameter(torch.ones(2))

        def forward(self, batch):
            return self.head(batch) * self.scale

    model = Scaled()
    with protect(model, meta=True):
        assert torch.equal(model.forward(image()), model(image()))
        with pytest.raises(DeviceMismatchError) as caught:
            model.forward(image("meta"))
    assert caught.value.mismatches[0].module_class == "Linear"


# --- hooks of the user


class Recorder:
    """Hooks of every kind that write down what they are given."""

    def __init__(self, model: nn.Module, *, prepend: bool) -> None:
        self.seen: list[object] = []
        model.register_forward_pre_hook(self.before, prepend=prepend)
        model.register_forward_pre_hook(self.before_with, with_kwargs=True, prepend=prepend)
        model.register_forward_hook(self.after, always_call=True, prepend=prepend)
        model.register_forward_hook(self.after_with, with_kwargs=True, prepend=prepend)
        model.register_full_backward_hook(self.backward, prepend=prepend)

    def before(self, _module, args):
        self.seen.append(("before", len(args)))

    def before_with(self, _module, args, kwargs):
        self.seen.append(("before with", len(args), sorted(kwargs)))

    def after(self, _module, args, output):
        self.seen.append(("after", len(args), output.shape))

    def after_with(self, _module, args, kwargs, output):
        self.seen.append(("after with", len(args), sorted(kwargs), output.shape))

    def backward(self, _module, grad_input, grad_output):
        self.seen.append(("backward", len(grad_input), len(grad_output)))


@both
@pytest.mark.parametrize("prepend", [True, False])
@pytest.mark.parametrize("first", ["user", "guard"])
def test_the_hooks_of_the_user_run_as_without(protect, prepend, first):
    def run(model):
        model(image().requires_grad_(), scale=torch.tensor(2.0)).sum().backward()

    bare, model = Net(), Net()
    expected = Recorder(bare, prepend=prepend)
    run(bare)
    if first == "user":
        given = Recorder(model, prepend=prepend)
    with protect(model):
        if first == "guard":
            given = Recorder(model, prepend=prepend)
        run(model)
        run(model)
    assert len(expected.seen) == 5
    assert given.seen == 2 * expected.seen
    run(model)
    assert given.seen == 3 * expected.seen


def move_to_meta(_module, args):
    return tuple(arg.to("meta") for arg in args)


def leave(_module, args):
    return args


@pytest.mark.parametrize("prepend", [True, False])
@pytest.mark.parametrize("first", ["user", "guard"])
def test_a_hook_of_the_user_that_moves_nothing_hides_nothing(prepend, first):
    # A product of matrices is the same to `meta` wherever they are: torch itself says nothing.
    model = nn.Linear(4, 2, bias=False).to("meta")
    if first == "user":
        model.register_forward_pre_hook(leave, prepend=prepend)
    with runtime_guard.guard(model, meta=True):
        if first == "guard":
            model.register_forward_pre_hook(leave, prepend=prepend)
        with contextlib.suppress(DeviceMismatchError):
            model(image())
        with pytest.raises(DeviceMismatchError):
            model(image())


@both
def test_a_global_hook_of_the_user_runs_as_without(protect):
    seen = []
    handle = torch.nn.modules.module.register_module_forward_pre_hook(
        lambda module, args: seen.append(type(module).__name__)
    )
    model = Net()
    try:
        model(image())
        with protect(model):
            model(image())
    finally:
        handle.remove()
    assert len(seen) == 12
    assert seen[:6] == seen[6:]
