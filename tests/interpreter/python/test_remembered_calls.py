"""A call into another file is interpreted once for the same arguments; its result stays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from textwrap import dedent

import libcst as cst

from devicelint.interpreter import Program, explore
from tests.interpreter.entering import counting


@dataclass
class OneFile:
    """A project with one file, `helpers`, that any file may import."""

    helpers: Program | None = None

    def find(self, importer: str, module: str, level: int) -> str | None:
        return "helpers.py" if module == "helpers" else None

    def inside(self, home: str, name: str) -> str | None:
        return None

    def about(self, home: str, what: str) -> str | None:
        return None

    def demanded_by(self, home: str, name: str) -> str | None:
        return None

    def program(self, home: str) -> Program | None:
        return self.helpers


def entered(code: str, helpers: str, accelerators: int) -> Counter[str]:
    """How often the functions are entered on a machine."""
    counts: Counter[str] = Counter()

    files = OneFile()
    text = dedent(helpers)
    files.helpers = Program(cst.parse_module(text), text, "helpers.py", files, "helpers.py")
    text = dedent(code)
    program = Program(cst.parse_module(text), text, "train.py", files)
    explore(program, lambda world: lambda event, run: None, counting(counts, accelerators))
    return counts


HELPERS = """
    def doubled(values):
        return values + values
"""


def test_the_same_call_is_interpreted_once():
    code = """
        import torch
        from helpers import doubled

        values = torch.zeros(3)
        doubled(values)
        doubled(values)
    """
    assert entered(code, HELPERS, 1) == {"doubled": 1}


def test_so_it_is_on_a_path_that_has_failed_before():
    code = """
        import torch
        from helpers import doubled

        values = torch.zeros(3)
        torch.ones(3).cuda()
        doubled(values)
        doubled(values)
    """
    assert entered(code, HELPERS, 0) == {"doubled": 1}


def test_what_was_seen_before_the_failure_does_not_count_after_it():
    code = """
        import torch
        from helpers import doubled

        values = torch.zeros(3)
        doubled(values)
        torch.ones(3).cuda()
        doubled(values)
    """
    assert entered(code, HELPERS, 0) == {"doubled": 2}
