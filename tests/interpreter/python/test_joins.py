"""What is known where two paths meet, and which paths there are."""

from __future__ import annotations

import pytest

from devicelint.domain.worlds import WITH_ONE, WITHOUT

IF = "import random\nif random.random() > 0.5:\n    {}\nelse:\n    {}"
JOINS = {
    "the same device": ("x = cuda", "x = cuda", "x", "cuda"),
    "two devices": ("x = cpu", "x = cuda", "x", "cpu; cuda"),
    "two indices": ("x = cpu.to('cuda:0')", "x = cpu.to('cuda:1')", "x", "cuda"),
    "none and a tensor": ("x = None", "x = cuda", "x", "None; cuda"),
    "one path alone": ("x = cuda", "pass", "x", "cuda"),
    "item by item": ("x = cpu, cuda", "x = cuda, cuda", "x", "(cpu, cuda); (cuda, cuda)"),
    "tuples of two lengths": ("x = cpu, cuda", "x = (cpu,)", "x", "(cpu); (cpu, cuda)"),
    "two strings": ("x = 'a'", "x = 'b'", "x", "HostValue"),
    "the same string": ("x = 'a'", "x = 'a'", "x", "'a'"),
    "a tensor and what is not known": ("x = cuda", "x = elsewhere()", "x", "cuda; unknown"),
    "None and what is not known": ("x = None", "x = elsewhere()", "x", "unknown"),
    "two lists": ("x = [cuda]", "x = [cuda, cuda]", "x[0]", "cuda; cuda"),
    "a path that ends": ("raise ValueError", "x = cuda", "x", "cuda"),
}
OPTIONS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--gpu", action="store_true")
args = parser.parse_args()
"""
PATHS = {
    "a condition that is known": ("x = cpu\nif 0: x = cuda", "x", "cpu"),
    "is None": ("y = None\nx = cuda if y is None else cpu", "x", "cuda"),
    "isinstance": ("x = cuda if isinstance(cpu, torch.Tensor) else cpu", "x", "cuda"),
    "or of None": ("x = None or cuda", "x", "cuda"),
    "named expression": ("if (x := cuda) is not None: pass", "x", "cuda"),
    "try that may fail": (
        "x = cpu\ntry:\n    x = cuda\n    f()\nexcept Exception: pass",
        "x",
        "the device of x",
    ),
    "raise": ("try:\n    raise ValueError\nexcept ValueError: x = cuda", "x", "cuda"),
    "finally": ("x = cpu\ntry: pass\nfinally: x = cuda", "x", "cuda"),
    "match": ("match (1, cuda):\n    case (1, x): pass", "x", "cuda"),
}


@pytest.mark.parametrize(("one", "other", "expression", "value"), JOINS.values(), ids=JOINS)
def test_only_what_holds_on_both_paths_is_known(evaluate, one, other, expression, value):
    assert evaluate(IF.format(one, other), expression) == value
    assert evaluate(IF.format(other, one), expression) == value


@pytest.mark.parametrize(("code", "expressions", "values"), PATHS.values(), ids=PATHS)
def test_a_path_is_walked_where_it_can_be_taken(evaluate, code, expressions, values):
    assert evaluate(code, expressions) == values


@pytest.mark.parametrize(("world", "value"), [(WITH_ONE, "cuda"), (WITHOUT, "cpu")])
def test_a_machine_decides(evaluate, world, value):
    code = "device = 'cuda' if torch.cuda.is_available() else 'cpu'"
    assert evaluate(code, "torch.ones(1, device=device)", world) == value


@pytest.mark.parametrize("chosen", [True, False])
def test_a_flag_that_separates_devices_makes_two_worlds(evaluate, chosen):
    code = f"{OPTIONS}x = cpu\nif args.gpu: x = x.cuda()"
    world = WITH_ONE.choosing("args.gpu", chosen)
    assert evaluate(code, "x", world) == ("cuda" if chosen else "cpu")
