"""Which statements of a script a change made, and that a run tells which of them it came to."""

from contextlib import nullcontext

import pytest

from runtime_guard.mutation.marking import MADE, changed, marked

BEFORE = """\
'''About it.'''
import sys

def train(batches):
    for batch in batches:
        done(batch)
    with context():
        pass
    if batches:
        return 1

train([1])
"""


def reached(before, after, **names):
    """The lines of the changed statements, and those of them that a run of `after` comes to."""
    marks = changed(before, after)
    found = set()

    def made(index, value):
        found.add(index)
        return value

    exec(marked(after, marks), {MADE: made, **names})
    return [mark.line for mark in marks], [marks[index].line for index in sorted(found)]


def test_nothing_is_changed():
    assert changed(BEFORE, BEFORE) == ()


def test_a_change_is_reached_or_not():
    after = BEFORE.replace("done(batch)", "batch = batch + 1\n        done(batch)").replace(
        "import sys", "import sys, os"
    )
    done: list[int] = []
    assert reached(BEFORE, after, done=done.append, context=nullcontext) == (
        [2, 6],
        [2, 6],
    )
    assert done == [2]
    never = after.replace("train([1])", "train([])")
    assert reached(BEFORE, never, done=done.append, context=nullcontext) == (
        [2, 6, 13],
        [2, 13],
    )


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("for x in a: pass", "for x in 1, *a: pass", [1]),
        ("while a: a = 0", "while (a): a = 0", [1]),
        ("if a: b = 1", "if b := a: pass", [1]),
        ("with c(): pass", "with c() as d: pass", [1]),
        ("match a:\n  case 1: pass", "match len([a]):\n  case 1: pass", [1]),
        ("def f(): return 1\nf()", "def f(): return 2\nf()", [1]),
        ("x = [\n 1,\n 2]", "x = [\n 1,\n 3]", [1]),
        ("x = 1; y = 2", "x = 1; y = 3", [1]),
        ("try:\n  x = 1\nfinally: pass", "try:\n  x = 2\nfinally: pass", [2]),
        ("'''One.'''\nx = 1", "'''Two.'''\nx = 1", []),
        ("from __future__ import annotations", "from __future__ import division", []),
        ("x = 1\ny = 2", "x = 1", []),
        ("x = 'é'; x\n", "x = 'é'; x = 'ü'\n", [1]),
    ],
)
def test_each_statement_may_be_changed(before, after, lines):
    found, came_to = reached(before, after, a=[], c=nullcontext)
    assert sorted(set(found)) == lines
    assert sorted(set(came_to)) == lines


def test_line_ends_are_no_change():
    assert changed("a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n") == ()
    assert [mark.line for mark in changed("a = 1\rb = 2\r", "a = 1\rb = 3\r")] == [2]
