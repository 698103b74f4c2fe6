"""The moves of a script: which there are, where they stand, and what is left without each."""

import ast
from pathlib import Path

import pytest

from runtime_guard.mutation.marking import MADE, marked
from runtime_guard.mutation.moves import KINDS, moves_in

EXAMPLES = sorted(Path(__file__).parents[3].glob("examples/*/*.py"))

TAKEN_OUT = [
    ("to", "x = x.to(device)", "x = x"),
    ("to", "x = x.to(device, non_blocking=True).float()", "x = x.float()"),
    ("to", "x = (a + b).to('cuda:1')", "x = (a + b)"),
    ("to", "x.to(device, torch.float16)", "x.to(torch.float16)"),
    ("to", "x.to((device), dtype)", "x.to(dtype)"),
    ("to", "x.to(device=d, dtype=t)", "x.to(dtype=t)"),
    ("to", "x.to(t, device=d)", "x.to(t)"),
    ("to", "x.to(dtype=t, device=d, copy=True)", "x.to(dtype=t, copy=True)"),
    ("to", "x.to(d, memory_format=f)", "x.to(memory_format=f)"),
    ("to", "x.to(*args, **options)", "x"),
    ("to", "model.cuda()", "model"),
    ("to", "y.cuda(args.gpu, non_blocking=True)", "y"),
    ("to", "y.cpu().numpy()", "y.numpy()"),
    ("to", "y.xpu()", "y"),
    ("to", 'print("é", x.cpu())', 'print("é", x)'),
    ("to", "x = (\n    x\n    .cpu()  # why\n)", "x = (\n    x\n      # why\n)"),
    ("to", "x = y \\\n    .to(\n    device)\n", "x = y \\\n    \\\n\n"),
    ("device", "torch.zeros(3, device=device)", "torch.zeros(3)"),
    ("device", "torch.zeros(device=(a, b)[0], size=(3,))", "torch.zeros(size=(3,))"),
    ("device", "torch.zeros(device=device)", "torch.zeros()"),
    ("device", "torch.zeros(3, device=d, dtype=t)", "torch.zeros(3, dtype=t)"),
    ("device", "f(\n    3,\n    device=d,  # why\n)", "f(\n    3,\n    # why\n)"),
    ("device", "f(\n    3,\n    device=d\n)", "f(\n    3,\n    \n)"),
    ("device", "nn.Linear(1, 2, device=0)", "nn.Linear(1, 2)"),
    ("map_location", "torch.load(p, map_location='cpu')", "torch.load(p)"),
    ("map_location", "torch.load(p, map_location=lambda s, l: s)", "torch.load(p)"),
    ("map_location", "torch.load(p, device)", "torch.load(p)"),
    ("map_location", "torch.load(p, device, pickle)", "torch.load(p, None, pickle)"),
    ("type", "x.type(torch.cuda.FloatTensor)", "x.type(torch.FloatTensor)"),
    ("type", "y = torch.cuda.LongTensor(3)", "y = torch.LongTensor(3)"),
    ("type", 'x.type("torch.cuda.FloatTensor")', "x.type('torch.FloatTensor')"),
    ("default", 'torch.set_default_device("cuda")', "None"),
    (
        "type",
        "torch.set_default_tensor_type(torch.cuda.HalfTensor)",
        "torch.set_default_tensor_type(torch.HalfTensor)",
    ),
    (
        "context",
        'with torch.device("cuda") as d, open(p):\n    f()',
        'with __import__("contextlib").nullcontext() as d, open(p):\n    f()',
    ),
]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize(("kind", "before", "after"), TAKEN_OUT)
def test_a_move_is_taken_out_and_nothing_else(kind, before, after, line_end):
    around = "# ⚙ before\n{}\n\nafter = 1\n"
    source = around.format(before).replace("\n", line_end)
    (move,) = moves_in(source)
    assert move.kind == kind
    assert move.removed(source) == around.format(after).replace("\n", line_end)


@pytest.mark.parametrize(
    "source",
    [
        "x.to(torch.float32)",
        "x.to(y.dtype)",
        "x.to(dtype)",
        "x.to(dtype=torch.float32, copy=True)",
        "torch.zeros(3, device=None)",
        "torch.load(p, map_location=None)",
        "torch.load(p)",
        "torch.device('cuda')",
        "device = torch.cuda.current_device()",
        "torch.cuda.synchronize(device=d)",
        "torch.accelerator.memory_allocated(device=d)",
        "model.to_empty(device=d)",
        "super().to(device)",
        "(x.to)(device)",
        "f'{x.cpu()}'",
        "def train(model, device): ...\ntrain(model, device=device)",
        "class Net: ...\nNet(device=device)",
        "torch.is_tensor('torch.cuda')",
        "with open(device): pass",
    ],
)
def test_what_is_no_move(source):
    assert moves_in(source) == ()


def test_moves_say_where_they_are_in_the_order_of_the_text():
    source = "a = x.to(d).cpu()\nb = torch.ones(2,\n     device=d)\n"
    found = moves_in(source)
    assert [str(move) for move in found] == ["1:6: .to(d)", "1:12: .cpu()", "3:6: device=d"]
    assert found[2].removed(source) == "a = x.to(d).cpu()\nb = torch.ones(2,\n     )\n"


def test_a_move_is_shown_on_one_line():
    (move,) = moves_in("x.to(\n    d,\n    non_blocking=True)")
    assert str(move) == "1:2: .to( d, non_blocking=True)"


def test_what_is_no_program_has_no_moves():
    with pytest.raises(SyntaxError):
        moves_in("x.to(")


def test_a_move_belongs_to_its_source():
    (move,) = moves_in("x.to(device)")
    with pytest.raises(ValueError, match=r"there is no '\.to\(device\)' at line 1"):
        move.removed("y = x.to(device)")


def test_no_line_changes_its_number():
    source = "y = f(x.to(\n    d,\n)  # why\n)\nz = 1 / 0\n"
    (move,) = moves_in(source)
    assert move.removed(source) == "y = f(x\\\n\\\n  # why\n)\nz = 1 / 0\n"
    with pytest.raises(ZeroDivisionError) as raised:
        exec(move.removed(source), {"f": int, "x": 1})
    assert raised.traceback[-1].lineno == 5 - 1


def test_a_marked_program_tells_which_moves_were_made():
    source = """
class Value:
    def to(self, *_, **__): return self
    cpu = to

def fail(): list(9, device=1/0)
x = Value()
x.to(1).cpu()
(x).to((2), dtype)
dict(device=(x.to(3)))
if not x: x.cpu()
try: fail()
except ZeroDivisionError: pass
"""
    made = set()
    moves = moves_in(source)

    def reached(index, value):
        made.add(index)
        return value

    exec(marked(source, [move.made for move in moves]), {MADE: reached, "dtype": int})
    assert [str(moves[index]) for index in sorted(made)] == [
        "8:2: .to(1)",
        "8:8: .cpu()",
        "9:8: (2)",
        "10:6: device=(x.to(3))",
        "10:15: .to(3)",
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_example_without_a_move_is_still_a_program(path):
    source = path.read_text(encoding="utf-8")
    ast.parse(marked(source, [move.made for move in moves_in(source)]))
    for move in moves_in(source):
        assert move.kind in KINDS
        assert move.text in source.splitlines()[move.line - 1]
        without = move.removed(source)
        assert without.count("\n") == source.count("\n")
        ast.parse(without)
        assert len(moves_in(without)) == len(moves_in(source)) - 1
