"""Attributes, methods and bases of the classes of a file."""

from __future__ import annotations

from textwrap import dedent

import pytest

MEMBERS = """
class A:
    own = cpu
    def __init__(self, y): self.y = y
    def get(self): return self.y
    @property
    def read(self): return self.y
    @staticmethod
    def static(a): return a
    @classmethod
    def made(cls, a): return cls(a)
    def __call__(self, x): return x.cuda()
    def __getitem__(self, index): return self.y
    def __enter__(self): return cuda
    def __exit__(self, *error): pass
a = A(cuda)
"""
BASES = """
class A:
    def __init__(self): self.x = cpu
    def f(self): return self.g()
    def g(self): return self.x
class B(A):
    def __init__(self):
        super().__init__()
        self.y = self.x.cuda()
    def g(self): return self.y
class C(B): pass
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a.y", "cuda"),
        ("a.get()", "cuda"),
        ("A.get(a)", "cuda"),
        ("a.read", "cuda"),
        ("a.static(cpu)", "cpu"),
        ("A.static(cuda)", "cuda"),
        ("A.made(cpu).y", "cpu"),
        ("a.own", "cpu"),
        ("A.own", "cpu"),
        ("a(cpu)", "cuda"),
        ("a[0]", "cuda"),
        ("getattr(a, 'y')", "cuda"),
    ],
)
def test_a_member_is_found(evaluate, expression, value):
    assert evaluate(MEMBERS, expression) == value


def test_with_binds_what_is_entered(evaluate):
    assert evaluate(f"{MEMBERS}with A(cpu) as entered: pass", "entered") == "cuda"


def test_an_attribute_of_one_object_is_not_that_of_another(evaluate):
    code = "class A: x = cpu\none, other = A(), A()\none.x = cuda"
    assert evaluate(code, "one.x; other.x; A.x") == "cuda; cpu; cpu"


def test_setattr_is_an_assignment(evaluate):
    assert evaluate("class A: pass\na = A()\nsetattr(a, 'x', cuda)", "a.x") == "cuda"


@pytest.mark.parametrize(
    ("expression", "value"),
    [("A().f()", "cpu"), ("B().f()", "cuda"), ("C().f()", "cuda"), ("C().x", "cpu")],
)
def test_a_method_is_that_of_the_nearest_class(evaluate, expression, value):
    assert evaluate(BASES, expression) == value


def test_fields_of_a_dataclass_are_its_parameters(evaluate):
    code = """
    from dataclasses import dataclass
    @dataclass
    class A:
        x: object
        y: object = cuda
    a = A(cpu)
    """
    assert evaluate(dedent(code), "a.x; a.y; A(cpu, y=cpu).y") == "cpu; cuda; cpu"


def test_two_objects_share_what_they_were_given(evaluate):
    code = "class A:\n    def __init__(self, xs): self.xs = xs\nxs = []\na = A(xs)\nxs.append(cuda)"
    assert evaluate(code, "a.xs[0]") == "cuda"


def test_a_base_comes_after_all_that_derive_from_it(evaluate):
    code = """
    class A:
        x = cpu
    class B(A): pass
    class C(A):
        x = cuda
    class D(B, C): pass
    """
    assert evaluate(dedent(code), "D().x") == "cuda"


def test_a_setter_decides_what_is_kept(evaluate):
    code = """
    class A:
        @property
        def x(self): return self._x
        @x.setter
        def x(self, value): self._x = value.cuda()
    a = A()
    a.x = cpu
    """
    assert evaluate(dedent(code), "a.x") == "cuda"
