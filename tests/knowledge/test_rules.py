"""One truth: what the stubs say of mixed devices is what the guard holds CUDA's kernels to.

The linter's stubs and the tables of the virtual GPU are written apart. Here each row of a table is
compared with the stub of the same name, and each call of `test_knowledge_calls.txt` is made on the
virtual GPU, with its tensors on mixed devices, and with one of them a scalar of the CPU, which
FakeTensorMode excuses where CUDA does not (see `test_knowledge_oracle.py`).
"""

import json
import re
import warnings
from pathlib import Path

import pytest

from devicelint import knowledge
from devicelint.knowledge import CPU, Role
from devicelint.knowledge.stubs_index import index
from tests.knowledge.test_oracle import CALLS, SHAPES, TYPES, mixtures, parsed

torch = pytest.importorskip("torch")
runtime_guard = pytest.importorskip("runtime_guard")

TABLE = Path(runtime_guard.__file__).parent / "virtual/dispatch/tables/torch-2.13.json"

PREFIXES = {
    "torch": "",
    "torch.Tensor": "",
    "torch.nn.functional": "",
    "torch.linalg": "linalg_",
    "torch.special": "special_",
}
"""What stands before a function's name in that of its operator, by module."""

OTHER_NAMES = {
    "self": "input",
    "x": "input",
    "indices": "input",
    "random_samples": "_random_samples",
}
"""What functions call the arguments of their operators."""


def operators():
    """Each overload of an operator that compares tensors: its name, its rule, what it writes."""
    for qualified, rule in json.loads(TABLE.read_text(encoding="utf-8"))["ops"].items():
        name, _, overload = qualified.partition(".")
        packet = getattr(torch.ops.aten, name, None)
        if rule[0] not in ("exact", "iterator") or packet is None:
            continue
        schema = getattr(packet, overload or "default")._schema
        written = {a.name for a in schema.arguments if a.alias_info and a.alias_info.is_write}
        if not any(
            argument.name in written for argument in schema.arguments if argument.kwarg_only
        ):
            yield name, qualified, rule, written


def stubs_of(operator):
    for module, prefix in PREFIXES.items():
        name = operator.removeprefix(prefix)
        if operator.startswith(prefix) and name in index(module):
            of_module = f"{module}.{name}"
            is_method = module == "torch.Tensor"
            stub = knowledge.tensor_method(name) if is_method else knowledge.function(of_module)
            if stub is not None:
                yield of_module, {parameter.name: parameter.slot for parameter in stub.parameters}


def rows():
    for operator, qualified, (_, _, arguments, scalars, *takes), written in operators():
        for name, slots in stubs_of(operator):
            for argument in (given.partition("=")[0] for given in arguments):
                parameter = argument if argument in slots else OTHER_NAMES.get(argument, argument)
                excused = scalars > 0 and argument in (takes or arguments)
                excused = excused and argument not in written
                yield f"{name}({parameter}) is {qualified}", slots.get(parameter), excused


def test_a_stub_asks_of_each_tensor_what_its_operator_compares():
    compared = list(rows())
    asked = {name: slot for name, slot, _ in compared}
    unasked = [
        name for name, slot in asked.items() if slot is None or slot.role is not Role.OPERAND
    ]
    assert len(compared) > 280
    assert unasked == []


def test_a_stub_excuses_a_scalar_of_the_cpu_where_its_operator_does():
    differing = [name for name, slot, excused in rows() if slot.scalar_excused != excused]
    assert differing == []


REFUSED = re.compile(
    r"at least two devices|different from other tensors|should be the same|same device"
    r"|(?:to be|either) on|device type"
)


def answer(text, names, accelerated, shapes):
    """Whether the virtual GPU lets a call pass; None if the call fails for another reason."""
    with warnings.catch_warnings():
        # It broadcasts, or asks for sizes that agree.
        warnings.simplefilter("ignore", UserWarning)
        scope = {name: tensor(name, shapes, name in accelerated) for name in names}
        try:
            eval(text, {"torch": torch}, scope)
        except (RuntimeError, ValueError, IndexError) as error:
            return False if REFUSED.search(str(error)) else None
    return True


def tensor(name, shapes, is_accelerated):
    dtype = TYPES.get(name, torch.float32)
    made = torch.ones(shapes[name], dtype=dtype)
    if dtype == torch.float32:
        # Probabilities; a matrix of them has an inverse.
        made = made / 4 + (torch.eye(*made.shape) / 2 if made.dim() == 2 else 0)
    return made.to("cuda" if is_accelerated else "cpu")


def passes(uses, accelerated, shapes):
    """Whether the stub lets the call pass."""
    operands = [(n, slot) for n, slot in uses if slot.role is Role.OPERAND and slot.group != CPU]
    moved = any(name in accelerated for name, _ in operands)
    for name, slot in operands:
        excused = slot.scalar_excused and not shapes[name]
        if moved and name not in accelerated and not excused:
            return False
    return all(name not in accelerated for name, slot in uses if slot.group == CPU)


def mixes(names):
    for accelerated in mixtures(names):
        yield accelerated, SHAPES
    for scalar in names:
        if SHAPES[scalar] and len(names) > 1:
            yield set(names) - {scalar}, {**SHAPES, scalar: ()}


LAXER = {
    # Of a 0-dim loss and a 0-dim target, one on the CPU, CUDA subtracts the one from the other. It
    # refuses a 0-dim target beside more dimensions, for it broadcasts them first; the stub cannot
    # say both, and is silent about both.
    "torch.nn.functional.l1_loss(x, y)": {"x", "y"},
}
"""Calls that a stub lets pass and CUDA refuses, by the tensor that is a scalar of the CPU."""


@pytest.mark.parametrize("text", CALLS)
def test_the_virtual_gpu_runs_and_refuses_what_the_stub_says(text):
    uses, _ = parsed(text)
    names = sorted({name for name, _ in uses})
    differing = {}
    with runtime_guard.virtual_gpu():
        assert answer(text, names, set(names), SHAPES) is True
        for accelerated, shapes in mixes(names):
            said = answer(text, names, accelerated, shapes)
            if said is not None and said != passes(uses, accelerated, shapes):
                scalar = next((name for name in names if shapes[name] != SHAPES[name]), None)
                differing[scalar or " ".join(sorted(accelerated))] = said
    assert differing == dict.fromkeys(LAXER.get(text, ()), False)
