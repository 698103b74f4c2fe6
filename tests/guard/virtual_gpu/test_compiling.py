"""torch.compile and exports: run as Python, and said once."""

import copy
import functools
import warnings

import pytest
import torch

import runtime_guard
from runtime_guard import virtual_gpu
from runtime_guard.virtual.notices import forget


@torch.compile(backend="eager")
def compiled_before(x):
    return x + 1


@pytest.fixture(autouse=True)
def gpu():
    forget()
    with virtual_gpu() as one, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield one


def said(action):
    """What is warned of, of the virtual GPU."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    ours = [one for one in caught if one.category is runtime_guard.VirtualGpuWarning]
    return [(str(one.message), one.filename == __file__) for one in ours]


def plus(x):
    return x + torch.ones(2, device=x.device)


def data():
    return torch.ones(1, 2, device="cuda")


def test_a_compiled_model_is_torchs_own_and_runs_eagerly():
    model = torch.nn.Linear(2, 2).cuda()
    compiled = torch.compile(model, mode="reduce-overhead")
    assert isinstance(compiled, torch._dynamo.eval_frame.OptimizedModule)
    assert compiled._orig_mod is model
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    out = compiled(data())
    assert str(out.device) == "cuda:0"
    out.sum().backward()
    assert str(model.weight.grad.device) == "cuda:0"
    assert str(copy.deepcopy(compiled)(data()).device) == "cuda:0"


def test_a_device_error_is_found_in_compiled_code():
    compiled = torch.compile(torch.nn.Linear(2, 2).cuda())
    with pytest.raises(
        RuntimeError, match="got mat1 is on cpu, different from other tensors on cuda:0"
    ):
        compiled(torch.ones(1, 2))


@pytest.mark.parametrize(
    "spell",
    [
        lambda: torch.compile(plus),
        lambda: torch.compile(fullgraph=True, dynamic=True)(plus),
        lambda: torch.compile(plus, backend="eager"),
        lambda: torch.compile(plus, options={"max_autotune": True}),
        lambda: torch.compiler.compile(plus),
        lambda: torch.jit.script(plus),
        lambda: torch.jit.trace(plus, data()),
        lambda: torch.jit.trace(plus, (data(),), check_trace=False),
    ],
)
def test_every_spelling_runs_the_python(spell):
    made = spell()(data())
    assert (str(made.device), made.tolist()) == ("cuda:0", [[2.0, 2.0]])


def test_what_was_compiled_before_runs_eagerly_too():
    assert str(compiled_before(data()).device) == "cuda:0"
    with torch.compiler.set_stance("default"):
        assert str(compiled_before(data()).device) == "cuda:0"


def test_a_module_compiles_in_place():
    model = torch.nn.Linear(2, 2).cuda()
    model.compile()
    assert str(model(data()).device) == "cuda:0"


def test_it_is_said_once():
    expected = "virtual GPU: torch.compile runs eagerly here; the compiled path is not tested"
    compiled, given = torch.compile(plus), data()
    assert said(lambda: compiled(given)) == [(expected, True)]
    assert said(lambda: compiled(given)) == []


def test_an_export_is_made_as_on_the_cpu():
    model = torch.nn.Linear(2, 2).cuda()
    made = []
    messages = said(lambda: made.append(torch.export.export(model, (data(),))))
    expected = (
        "virtual GPU: torch.export.export sees the model as one of the CPU; what it makes is not "
        "proven"
    )
    assert messages == [(expected, True)]
    assert str(made[0].module()(data()).device) == "cuda:0"
    assert str(model(data()).device) == "cuda:0"


def test_flex_attention_runs():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    query = torch.randn(1, 1, 16, 8, device="cuda")
    mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 16, 16, device="cuda")
    out = torch.compile(flex_attention)(query, query, query, block_mask=mask)
    assert str(out.device) == "cuda:0"


class Counting:
    """A back end of torch.compile that counts what it is given to compile."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1
        return graph.forward


def test_what_meets_only_tensors_of_the_cpu_is_compiled():
    backend = Counting()
    compiled = torch.compile(plus, backend=backend)
    assert compiled(torch.ones(1, 2)).tolist() == [[2.0, 2.0]]
    assert backend.graphs == 1
    assert str(compiled(data()).device) == "cuda:0"
    assert backend.graphs == 1
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    whole = torch.compile(model, backend=backend)
    whole(torch.ones(1, 2)).sum().backward()
    assert model[0].weight.grad is not None
    assert backend.graphs == 2
    whole.cuda()
    assert str(whole(data()).device) == "cuda:0"
    assert backend.graphs == 2


def test_so_is_what_is_no_function_of_python():
    for given in (torch.ops.aten.sin, functools.partial(torch.add, torch.ones(2)), torch.sin):
        backend = Counting()
        torch.compile(given, backend=backend)(torch.ones(2))
        assert backend.graphs == 1
    backend = Counting()
    scaled = torch.compile(functools.partial(torch.mul, data()), backend=backend)
    assert str(scaled(torch.tensor(2.0)).device) == "cuda:0"
    assert backend.graphs == 0


@torch.no_grad()
def test_what_names_a_tensor_of_a_device_is_not_compiled():
    backend, weight = Counting(), data()

    def scaled(x):
        return inner(x)

    def inner(x):
        return x.to(weight.device) * weight

    assert str(torch.compile(scaled, backend=backend)(torch.ones(1, 2)).device) == "cuda:0"
    moved = torch.compile(lambda x: x.cuda() * 2, backend=backend)
    assert str(moved(torch.ones(1, 2)).device) == "cuda:0"


def test_a_mistake_of_compiled_code_on_the_cpu_is_its_own():
    @torch.compile(backend="eager", fullgraph=True)
    def breaking(x):
        torch._dynamo.graph_break()
        return x

    with pytest.raises(torch._dynamo.exc.Unsupported):
        breaking(torch.ones(2))


def test_torch_compile_can_be_reset():
    torch.compiler.reset()
    torch._dynamo.reset()


def test_what_would_be_compiled_is_explained():
    assert torch._dynamo.explain(plus)(data()).graph_count == 1
    assert torch._dynamo.explain(torch.nn.Linear(2, 2))(torch.ones(1, 2)).graph_count == 1
    assert str(torch.compile(plus)(data()).device) == "cuda:0"


def test_after_the_block_torch_compiles_again(gpu):
    stance = torch._dynamo.eval_frame._stance
    gpu.__exit__(None, None, None)
    try:
        assert torch._dynamo.eval_frame._stance.stance == "default"
        with torch.compiler.set_stance("force_eager"):
            assert torch._dynamo.eval_frame._stance.stance == "force_eager"
    finally:
        gpu.__enter__()
    assert stance.stance == "force_eager"
