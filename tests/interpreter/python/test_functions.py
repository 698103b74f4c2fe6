"""How arguments reach parameters, and what a call gives."""

from __future__ import annotations

import pytest

BINDING = {
    "by position": ("def f(a, b): return a, b", "f(cpu, cuda)", "(cpu, cuda)"),
    "by keyword": ("def f(a, b): return a, b", "f(b=cpu, a=cuda)", "(cuda, cpu)"),
    "default": ("def f(a, b=cuda): return b", "f(cpu); f(cpu, cpu)", "cuda; cpu"),
    "keyword only": ("def f(*, a): return a", "f(a=cuda)", "cuda"),
    "keyword only, default": ("def f(*, a=cuda): return a", "f()", "cuda"),
    "position only": ("def f(a, /, b): return a", "f(cpu, cuda)", "cpu"),
    "starred argument": ("def f(a, b): return a, b", "f(*[cpu, cuda])", "(cpu, cuda)"),
    "two stars": ("def f(a, b): return a, b", "f(**{'b': cpu, 'a': cuda})", "(cuda, cpu)"),
    "starred parameter": ("def f(*args): return args", "f(cpu, cuda); f()", "(cpu, cuda); ()"),
    "the rest": ("def f(a, *rest): return a, rest", "f(cpu, cuda)", "(cpu, (cuda))"),
    "keywords": ("def f(**given): return given['x']", "f(x=cuda)", "cuda"),
    "passed on": (
        "def f(*args, **given): return g(*args, **given)\ndef g(a, *, b): return a, b",
        "f(cpu, b=cuda)",
        "(cpu, cuda)",
    ),
    "partial": (
        "from functools import partial\ndef f(a, b): return a, b",
        "partial(f, cpu)(cuda); partial(f, b=cpu)(cuda)",
        "(cpu, cuda); (cuda, cpu)",
    ),
    "lambda": ("f = lambda x, y=cuda: (x, y)", "f(cpu)", "(cpu, cuda)"),
}
RESULTS = {
    "another call, another value": ("def f(x): return x", "f(cpu); f(cuda)", "cpu; cuda"),
    "chosen by an argument": (
        "def f(x):\n    if x is None: return cuda\n    return x",
        "f(None); f(cpu)",
        "cuda; cpu",
    ),
    "nothing": ("def f(): pass", "f()", "None"),
    "a closure": (
        "def f(x):\n    def g(): return x\n    return g",
        "f(cuda)(); f(cpu)()",
        "cuda; cpu",
    ),
    "a decorated function": (
        "def d(f):\n    def g(*a): return f(*a).cuda()\n    return g\n@d\ndef f(x): return x",
        "f(cpu)",
        "cuda",
    ),
    "global": ("x = cpu\ndef f():\n    global x\n    x = cuda\nf()", "x", "cuda"),
    "nonlocal": (
        "def f():\n    x = cpu\n    def g():\n        nonlocal x; x = cuda\n    g()\n    return x",
        "f()",
        "cuda",
    ),
    "a local name": ("x = cpu\ndef f():\n    x = cuda\nf()", "x", "cpu"),
    "a name that is bound later": ("def f(): return x\nx = cuda", "f()", "cuda"),
    "recursion": ("def f(n): return cuda if n == 0 else f(n - 1)", "f(3)", "cuda"),
    "a function of elsewhere": ("from elsewhere import f", "f(cuda)", "unknown"),
}


@pytest.mark.parametrize(("code", "expressions", "values"), BINDING.values(), ids=BINDING)
def test_an_argument_reaches_its_parameter(evaluate, code, expressions, values):
    assert evaluate(code, expressions) == values


@pytest.mark.parametrize(("code", "expressions", "values"), RESULTS.values(), ids=RESULTS)
def test_a_call_gives_what_its_function_returns(evaluate, code, expressions, values):
    assert evaluate(code, expressions) == values
