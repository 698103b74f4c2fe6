"""What the code of a function says of its parameters."""

from __future__ import annotations

import libcst as cst
import pytest

from devicelint.interpreter.facts.annotations import said_to_be_tensors
from devicelint.interpreter.facts.tensor_evidence import Evidence, evidence_in


def evidence(*body: str, first: str = "") -> Evidence:
    code = "def function(x, y):\n" + "".join(f"    {line}\n" for line in body)
    (node,) = cst.parse_module(code).body
    assert isinstance(node, cst.FunctionDef)
    return evidence_in(node, frozenset({"x", "y"}), first)


@pytest.mark.parametrize(
    "line",
    [
        "x.unsqueeze(0)",
        "x.float().exp()",
        "torch.exp(x)",
        "F.relu(x, inplace=True)",
        "print(x.is_cuda)",
        "torch.stack([x[..., 0]])",
    ],
)
def test_only_a_tensor_is_treated_so(line):
    assert evidence(line).tensors == {"x"}


@pytest.mark.parametrize(
    "line",
    ["x.mean()", "torch.cat(x)", "len(x)", "np.exp(x[:, 0], torch.x)", "'x.exp()'", "relu(x)"],
)
def test_anything_may_be_treated_so(line):
    assert not evidence(line).tensors


def test_items_and_attributes_have_paths():
    assert evidence("x.parts[0].exp()", "y[-1].log()").tensors == {"x.parts[0]", "y[-1]"}


def test_what_is_bound_again_says_nothing():
    assert not evidence("x = make()", "x.exp()").tensors
    assert not evidence("for x in y:", "    x.exp()").tensors
    assert evidence("x = x.exp()", "x.log()").tensors == {"x"}


def test_a_normalization_has_a_weight():
    assert evidence("return x.running_mean").tensors == {"x.weight"}


def test_the_first_input_is_computed_with():
    assert evidence("return x + 1", first="x").tensors == {"x"}
    assert not evidence("return x + 1").tensors
    assert not evidence("return x ** 2", first="x").tensors


def test_doubt():
    assert evidence("if isinstance(x, str):", "    pass", "x.exp()").doubted == {"x"}


def test_dimensions():
    found = evidence("x.size(0)", "y.shape[1]")
    assert found.ranked == {"x", "y"}
    assert found.matrices == {"y"}
    assert evidence("n, d = x").matrices == {"x"}
    assert evidence("x[:, 0]").matrices == {"x"}
    assert evidence("x[..., 0, :]").matrices == {"x"}
    found = evidence("x[..., 0]", "y[:, None]", "z[...]")
    assert found.ranked == {"x", "y", "z"}
    assert not found.matrices
    assert not evidence("x[0]", "x['key']").ranked


def test_what_is_bound_again_has_other_dimensions():
    assert not evidence("x = make(x)", "x.shape[1]").ranked
    assert not evidence("g = lambda x: x.shape[1]").ranked
    assert evidence("g = lambda z: x.shape[1]").ranked == {"x"}
    assert evidence("def g(x):", "    return x.exp()", "x.shape[0]").ranked == {"x"}


def test_who_asks_for_dimensions_expects_fewer():
    assert not evidence("if x.dim() == 0:", "    pass", "x.shape[0]").ranked
    found = evidence("if x.ndim == 1:", "    pass", "x.shape[1]")
    assert found.ranked == {"x"}
    assert not found.matrices
    assert evidence("if len(x.shape) == 2:", "    pass", "x.shape[1]").matrices == {"x"}


def test_a_docstring_says_so():
    assert evidence('"""x (Tensor): the input"""').documented == {"x"}
    assert said_to_be_tensors("    y: torch.FloatTensor or ndarray", {"y"}) == frozenset()
