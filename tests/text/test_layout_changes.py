"""What counts as a change of the layout alone: then the tree keeps its nodes."""

from __future__ import annotations

import libcst as cst
import pytest

from devicelint.text.layout_changes import layout_changes
from devicelint.text.reparse import Parsed
from devicelint.text.source import SourceFile

TEXT = '''\
"""What it does."""

import torch


# Of use.
@decorated
def train(model, x):  # see
    """Train for a while.

    model: what is trained

    It takes a
    while, and it
    takes even
    longer with
    x (Tensor): the input
    """
    if x is None:
        return None
    else:
        y = model(
            x,
        )
    return f(y)  # done
'''


def parsed(text: str) -> Parsed:
    return Parsed.of(SourceFile(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Of use.", "# Of much use."),
        ("# Of use.\n", ""),
        ("# Of use.\n", "\n\n\n# Of use.\n# And more.\n"),
        ("  # see", ""),
        ("  # done", "  # nearly"),
        ("        return None\n", "\n        # Nothing.\n        return None  # at all\n\n"),
        ("    else:\n", "    # Or:\n    else:  # else\n"),
        ("import torch\n", "import torch  # noqa\n"),
        ("@decorated\n", "@decorated  # by it\n\n# between\n"),
        ("Train for a while.", "Train for ever."),
        ("What it does.", "What it does,\nand how."),
        ("  # done\n", "  # done\n\n# The end.\n"),
        ("  # done\n", ""),
        ("import", "\n\n\nimport"),
    ],
)
def test_a_tree_takes_the_layout_of_another_text(old, new):
    before, changed = parsed(TEXT), TEXT.replace(old, new, 1)
    assert changed != TEXT
    tree, statements = before.tree, before.tree.body
    now = before.relaid(before.changed(SourceFile(changed)))
    assert now is not None
    assert now.tree is tree
    assert now.tree.code == changed == now.text
    assert all(a is b for a, b in zip(now.tree.body, statements, strict=True))
    assert now.tree.deep_equals(cst.parse_module(changed))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f(y)", "f(x)"),
        ("f(y)", "f( y)"),
        ("x,\n", "x,  # the input\n"),
        ("return None", "pass"),
        ("return None\n", "return None\n        pass\n"),
        ("def train", "async def train"),
        ("None:", "1:"),
        ("    if x is None:\n        return None", "    if x is None: return None"),
        ("x (Tensor)", "y (Tensor)"),
        ("longer with\n", "longer with y\n"),
        ('"""What it does."""', '"cuda now"'),
        ("Train for a while", "Train on cuda"),
        ('"""What it does."""', 'f"""What it does."""'),
        ('"""What it does."""', "pass"),
        ('"""What it does."""', '"""What it does."""; pass'),
    ],
)
def test_another_code_has_another_tree(old, new):
    before, changed = parsed(TEXT), TEXT.replace(old, new, 1)
    now = before.changed(SourceFile(changed))
    assert before.relaid(now) is None
    assert before.tree.code == TEXT
    assert now.tree.code == changed


def test_a_tree_has_nothing_to_change_to_look_like_itself():
    tree = cst.parse_module(TEXT)
    assert layout_changes(tree, tree) == []


def test_one_change_follows_another():
    now = parsed(TEXT)
    for number in range(3):
        text = "\n" * number + TEXT.replace("# see", f"# see {number}")
        relaid = now.relaid(now.changed(SourceFile(text)))
        assert relaid is not None
        now = relaid
        assert now.tree.code == text
    changed = now.changed(SourceFile(TEXT.replace("f(y)", "g(y)")))
    assert changed.tree.code == TEXT.replace("f(y)", "g(y)")
