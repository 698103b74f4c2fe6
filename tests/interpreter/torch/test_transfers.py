"""Where tensors and modules are after they were moved, made or computed."""

from __future__ import annotations

import pytest

TENSORS = {
    "to a device": ("cpu.to('cuda')", "cuda"),
    "to an index": ("cpu.to('cuda:1')", "cuda:1"),
    "to where another one is": ("cpu.to(cuda)", "cuda"),
    "to its device": ("cpu.to(cuda.device)", "cuda"),
    "to a type": ("cuda.to(torch.float16)", "cuda"),
    "back": ("cuda.cpu()", "cpu"),
    "there and back": ("cpu.cuda().cpu()", "cpu"),
    "like another one": ("torch.ones_like(cuda)", "cuda"),
    "new from another one": ("cuda.new_zeros(2)", "cuda"),
    "made there": ("torch.ones(2, device='cuda')", "cuda"),
    "made anywhere": ("torch.ones(2)", "cpu"),
    "arithmetic": ("cuda * 2 + cuda", "cuda"),
    "comparison": ("cuda > 0", "cuda"),
    "an item": ("cuda[0]", "cuda"),
    "several of them": ("torch.stack([cuda, cuda])", "cuda"),
    "a result of two": ("torch.max(cuda, 0)", "(cuda, cuda)"),
    "a number": ("cuda.sum().item()", "HostValue"),
    "an array": ("cpu.numpy()", "Array"),
    "from an array": ("torch.from_numpy(cpu.numpy())", "cpu"),
}
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("buffer", torch.zeros(2))
        self.plain = torch.zeros(2)
net = Net().cuda()
"""
MODULES = {
    "stays where it was built": ("m = nn.Linear(2, 2)", "m.weight", "cpu"),
    "is moved in place": ("m = nn.Linear(2, 2)\nm.cuda()", "m.weight", "cuda"),
    "under each of its names": ("m = nn.Linear(2, 2)\nn = m\nn.cuda()", "m.weight", "cuda"),
    "a copy is another one": (
        "import copy\nm = nn.Linear(2, 2)\nn = copy.deepcopy(m).cuda()",
        "m.weight; n.weight",
        "cpu; cuda",
    ),
    "with what it holds": (
        "m = nn.Sequential(nn.Linear(2, 2)).cuda()",
        "m[0].weight; m",
        "cuda; torch.nn.Sequential on cuda",
    ),
    "with its parameters": ("m = nn.Linear(2, 2).cuda()", "next(m.parameters())", "cuda"),
    "with its buffers alone": (NET, "net.buffer; net.plain", "cuda; cpu"),
    "gives what it computes": ("m = nn.Linear(2, 2).cuda()", "m(cuda)", "cuda"),
}


@pytest.mark.parametrize(("expression", "value"), TENSORS.values(), ids=TENSORS)
def test_a_tensor(evaluate, expression, value):
    assert evaluate("", expression) == value


@pytest.mark.parametrize(("code", "expressions", "values"), MODULES.values(), ids=MODULES)
def test_a_module(evaluate, code, expressions, values):
    assert evaluate(code, expressions) == values
