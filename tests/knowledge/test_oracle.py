"""What the stubs say is what torch does: each call is made with its tensors on mixed devices.

FakeTensorMode stands in for CUDA. It is laxer in three places, which the calls below leave out:
a 0-dim CPU tensor is excused everywhere, a CUDA index may meet a CPU tensor, and a convolution
takes mixed devices. It is stricter in two: `select_scatter` and its like copy from any device.
"""

import ast
import inspect
from itertools import combinations
from pathlib import Path

import pytest

from devicelint import knowledge
from devicelint.knowledge import CPU, Form, Role

torch = pytest.importorskip("torch")
fake_tensor = pytest.importorskip("torch._subclasses.fake_tensor")

SHAPES = {
    "x": (2, 2),
    "y": (2, 2),
    "z": (2, 2),
    "v": (2,),
    "w": (2,),
    "p": (2,),
    "q": (2,),
    "s": (),
    "b": (3, 2, 2),
    "c": (3, 2, 2),
    "d": (3, 2, 2),
    "image": (1, 2, 4, 4),
    "grid": (1, 4, 4, 2),
    "b2": (2, 3),
    "b3": (2, 3),
    "i": (2,),
    "jj": (2, 2),
    "m": (2, 2),
    "m2": (2, 2),
}
TYPES = {"i": torch.long, "jj": torch.long, "m": torch.bool, "m2": torch.bool}

CALLS = (Path(__file__).parent / "calls.txt").read_text().splitlines()


def parsed(text):
    """The signature of the call, and the slot and the names of the tensors of each argument."""
    call = ast.parse(text, mode="eval").body
    target = ast.unparse(call.func)
    root, _, name = target.rpartition(".")
    arguments = list(call.args)
    if root == "x":
        arguments.insert(0, ast.Name("x"))
    signature = knowledge.tensor_method(name) if root == "x" else knowledge.function(target)
    assert signature is not None, target
    keywords = [k.arg for k in call.keywords]
    slots = signature.slots(len(arguments), keywords)
    values = [*arguments, *(k.value for k in call.keywords)]
    names = [[n.id for n in ast.walk(v) if isinstance(n, ast.Name)] for v in values]
    uses = [(name, slot) for slot, found in zip(slots, names, strict=True) for name in found]
    return uses, signature.result_of(len(arguments), keywords)


def tensor(name, device):
    return torch.empty(SHAPES[name], dtype=TYPES.get(name, torch.float32), device=device)


def evaluate(text, names, accelerated):
    """The result of the call with these of its tensors on the accelerator, or torch's error."""
    with fake_tensor.FakeTensorMode():
        scope = {n: tensor(n, "cuda:0" if n in accelerated else "cpu") for n in names}
        return eval(text, {"torch": torch}, scope)


def predicted(uses, accelerated):
    """Whether the stub lets the call pass."""
    operands = [(n, slot) for n, slot in uses if slot.role is Role.OPERAND and slot.group != CPU]
    moved = any(name in accelerated for name, _ in operands)
    for name, slot in operands:
        excused = slot.scalar_excused and not SHAPES[name]
        if moved and name not in accelerated and not excused:
            return False
    return all(n not in accelerated for n, slot in uses if slot.group == CPU)


def mixtures(names):
    for size in range(1, len(names)):
        yield from (set(chosen) for chosen in combinations(names, size))


@pytest.mark.parametrize("text", CALLS)
def test_mixed_devices_pass_or_fail_as_the_stub_says(text):
    uses, _ = parsed(text)
    names = sorted({name for name, _ in uses})
    evaluate(text, names, set(names))
    for accelerated in mixtures(names):
        if predicted(uses, accelerated):
            evaluate(text, names, accelerated)
        else:
            with pytest.raises((RuntimeError, NotImplementedError), match=r"(?i)device"):
                evaluate(text, names, accelerated)


def assert_is(stated, found, operands):
    """The result has the form that the stub states, on the accelerator."""
    if stated.form in (Form.TUPLE, Form.LIST):
        items = stated.items if stated.form is Form.TUPLE else stated.items * len(found)
        for item, part in zip(items, found, strict=True):
            assert_is(item, part, operands)
        return
    if stated.form in (Form.HOST, Form.ANY, Form.SELF, Form.NONE):
        assert (stated.form is Form.HOST) <= (not isinstance(found, torch.Tensor))
        return
    assert found.device.type == "cuda"
    assert not (stated.no_grad and found.requires_grad)
    if stated.form is Form.TENSOR:
        assert (found.dim() == 0) == all(not SHAPES[name] for name in operands)
    if stated.form in (Form.RANKED, Form.ZERO_DIM):
        assert (found.dim() == 0) == (stated.form is Form.ZERO_DIM)


@pytest.mark.parametrize("text", CALLS)
def test_the_result_is_what_the_stub_says(text):
    uses, stated = parsed(text)
    names = {name for name, _ in uses}
    operands = {name for name, slot in uses if slot.role is Role.OPERAND}
    assert_is(stated, evaluate(text, names, names), operands)


SKIPPED = ("Lazy", "NLLLoss2d", "Transformer")
"""Their tensors come with the first call; deprecated; slow to make, or made with a warning."""


def modules():
    """Modules that can be made without arguments, or with the arguments 2 or (2, 2)."""
    for name, made in sorted(vars(torch.nn).items()):
        known = knowledge.module_class(f"torch.nn.{name}")
        if known is None or known.forward is None or name.startswith(SKIPPED):
            continue
        for arguments in ((), (2,), (2, 2), (2, 2, 2), (4, 2, [2])):
            try:
                module = made(*arguments)
            except (TypeError, ValueError):
                continue
            yield name, known, module
            break


def test_modules_own_tensors_as_the_stubs_say():
    for name, known, module in modules():
        owns = any(True for _ in module.parameters()) or any(True for _ in module.buffers())
        assert known.owns_tensors == owns, name


def test_modules_with_tensors_take_a_device():
    for name, known, module in modules():
        through_keywords = name in ("RNN", "LSTM", "GRU")
        if known.owns_tensors and not through_keywords:
            assert "device" in inspect.signature(type(module)).parameters, name


def test_forward_has_the_parameters_that_torch_gives_it():
    wrong = []
    for name, known, module in modules():
        torch_names = list(inspect.signature(module.forward).parameters)
        stated = [parameter.name for parameter in known.forward.parameters]
        if stated != torch_names[: len(stated)]:
            wrong.append(f"{name}.forward: {stated}, in torch {torch_names}")
    assert wrong == []
