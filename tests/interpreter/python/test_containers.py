"""What lists, tuples and dicts hold, item by item."""

from __future__ import annotations

import pytest

LISTS = {
    "display": ("xs = [cpu, cuda]", "xs[0]; xs[1]; xs[-1]", "cpu; cuda; cuda"),
    "append": ("xs = []\nxs.append(cpu)\nxs.append(cuda)", "xs[0]; xs[1]", "cpu; cuda"),
    "append through another name": ("xs = []\nys = xs\nys.append(cuda)", "xs[0]", "cuda"),
    "append in a loop": ("xs = []\nfor _ in range(9):\n    xs.append(cuda)", "xs[0]", "cuda"),
    "extend": ("xs = [cpu]\nxs.extend([cuda, cpu])", "xs[0]; xs[1]; xs[2]", "cpu; cuda; cpu"),
    "in-place addition": ("xs = [cpu]\nxs += [cuda]", "xs[0]; xs[1]", "cpu; cuda"),
    "addition": ("xs = [cpu] + [cuda]", "xs[0]; xs[1]", "cpu; cuda"),
    "repetition": ("xs = [None] * 2\nxs[0] = cpu\nxs[1] = cuda", "xs[0]; xs[1]", "cpu; cuda"),
    "pop": ("xs = [cpu, cuda]\nlast = xs.pop()", "last; xs[0]", "cuda; cpu"),
    "pop from the front": ("xs = [cpu, cuda]\nfirst = xs.pop(0)", "first; xs[0]", "cpu; cuda"),
    "insert": ("xs = [cpu, cuda]\nxs.insert(0, cuda)", "xs[0]; xs[1]", "cuda; cpu"),
    "clear": ("xs = [cpu]\nxs.clear()\nxs.append(cuda)", "xs[0]", "cuda"),
    "assignment to an item": ("xs = [cpu, cuda]\nxs[0] = cuda", "xs[0]; xs[1]", "cuda; cuda"),
    "assignment to a slice": ("xs = [cpu, cuda]\nxs[:1] = []", "xs[0]", "cuda"),
    "slice": ("xs = [cpu, cuda]", "xs[1:][0]; xs[:1][0]; xs[::-1][0]", "cuda; cpu; cuda"),
    "list of a list": ("xs = [cpu]\nys = list(xs)\nys[0] = cuda", "xs[0]; ys[0]", "cpu; cuda"),
    "reverse": ("xs = [cpu, cuda]\nxs.reverse()", "xs[0]; xs[1]", "cuda; cpu"),
    "appended to the front": (
        "from collections import deque\nxs = deque([cpu])\nxs.appendleft(cuda)",
        "xs.popleft(); xs.pop()",
        "cuda; cpu",
    ),
    "starred items": ("xs = [cuda]\nys = [cpu, *xs, cpu]", "ys[0]; ys[1]; ys[2]", "cpu; cuda; cpu"),
    "one of two lists": ("rows = [[cuda], [cuda]]\nrow = rows[len(str(3))]", "row[0]", "cuda"),
    "sort": ("xs = [cpu, cuda]\nxs.sort()", "xs[0]", "the device of xs[0]"),
    "nested": ("xs = [[cpu], [cuda]]", "xs[1][0]", "cuda"),
}
TUPLES = {
    "display": ("xs = cpu, cuda", "xs; xs[1]", "(cpu, cuda); cuda"),
    "slice": ("xs = cpu, cuda", "xs[1:]; xs[::-1]; xs[:-1]", "(cuda); (cuda, cpu); (cpu)"),
    "addition": ("xs = (cpu,) + (cuda,)", "xs", "(cpu, cuda)"),
    "swap": ("a, b = cpu, cuda\na, b = b, a", "a; b", "cuda; cpu"),
    "nested targets": ("(a, b), c = (cpu, cuda), cpu", "a; b; c", "cpu; cuda; cpu"),
    "starred target": ("a, *rest = cpu, cuda, cuda", "a; rest", "cpu; (cuda, cuda)"),
    "starred target between": ("a, *rest, b = [cpu, cuda, cpu]", "a; rest[0]; b", "cpu; cuda; cpu"),
    "starred item": ("xs = *unknown, cuda", "xs", "unknown"),
    "named": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\np = P(cpu, y=cuda)",
        "p.x; p.y; p[1]",
        "cpu; cuda; cuda",
    ),
}
DICTS = {
    "display": ("ds = {'a': cpu, 'b': cuda}", "ds['a']; ds['b']", "cpu; cuda"),
    "get": ("ds = {'a': cuda}", "ds.get('a'); ds.get('b'); ds.get('b', cpu)", "cuda; None; cpu"),
    "assignment to a key": ("ds = {}\nds['a'] = cuda", "ds['a']", "cuda"),
    "update": ("ds = {'a': cpu}\nds.update({'a': cuda})", "ds['a']", "cuda"),
    "update by keyword": ("ds = {'a': cpu}\nds.update(a=cuda)", "ds['a']", "cuda"),
    "unpacked": ("ds = {'a': cpu, **{'b': cuda}}", "ds['b']", "cuda"),
    "pop": ("ds = {'a': cpu, 'b': cuda}\ngot = ds.pop('b')", "got; ds['a']", "cuda; cpu"),
    "setdefault": ("ds = {}\ngot = ds.setdefault('a', cuda)", "got; ds['a']", "cuda; cuda"),
    "keywords": ("ds = dict(a=cpu, b=cuda)", "ds['b']", "cuda"),
    "moved by its keys": ("ds = {'a': cpu}\nfor k in ds: ds[k] = ds[k].cuda()", "ds['a']", "cuda"),
    "comprehension over its items": (
        "ds = {k: v.cuda() for k, v in {'a': cpu, 'b': 1}.items() if isinstance(v, torch.Tensor)}",
        "ds['a']; ds.get('b')",
        "cuda; None",
    ),
    "union": ("ds = {'a': cpu} | {'a': cuda, 'b': cpu}", "ds['a']; ds['b']", "cuda; cpu"),
    "copy": ("ds = {'a': cpu}\nes = ds.copy()\nes['a'] = cuda", "ds['a']; es['a']", "cpu; cuda"),
    "fromkeys": ("ds = dict.fromkeys(['a', 'b'], cuda)", "ds['b']", "cuda"),
    "defaultdict": (
        "from collections import defaultdict\nds = defaultdict(list)\nds['a'].append(cuda)",
        "ds['a'][0]",
        "cuda",
    ),
    "values": ("ds = {'a': cuda}\nxs = list(ds.values())", "xs[0]", "cuda"),
    "items": ("ds = {'a': cuda}\nfor key, value in ds.items(): pass", "value", "cuda"),
}
ROWS = [
    pytest.param(*row, id=f"{kind}, {name}")
    for kind, rows in {"list": LISTS, "tuple": TUPLES, "dict": DICTS}.items()
    for name, row in rows.items()
]


@pytest.mark.parametrize(("code", "expressions", "values"), ROWS)
def test_each_item_is_known_by_itself(evaluate, code, expressions, values):
    assert evaluate(code, expressions) == values


@pytest.mark.parametrize(
    ("code", "expression", "value"),
    [
        ("xs = [cpu, cuda]\ndel xs[0]", "xs[0]", "cuda"),
        ("ds = {'a': cpu}\ndel ds['a']", "ds.get('a')", "None"),
    ],
)
def test_what_is_deleted_is_gone(evaluate, code, expression, value):
    assert evaluate(code, expression) in (value, "unknown")


def test_a_copy_is_another_list(evaluate):
    assert evaluate("xs = [cpu]\nys = xs.copy()\nys[0] = cuda", "xs[0]") in ("cpu", "unknown")
