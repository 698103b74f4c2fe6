"""The device pattern at the top of a file: one definition of `device`, after the imports."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from devicelint.finding import Edit
from devicelint.fixes.bindings import (
    bound_names,
    imports_from_torch,
    is_name,
    name_of_torch,
    run_at_import,
    small_statements,
)
from devicelint.fixes.change import Change
from devicelint.fixes.layout import Layout, NotFixable
from devicelint.fixes.suites import extent, suites

_AVAILABLE = {
    "mps": "{torch}.backends.mps.is_available()",
    **{
        kind: f"{{torch}}.{kind}.is_available()"
        for kind in ("cuda", "xpu", "npu", "hpu", "mtia", "mlu", "musa")
    },
}
"""How to ask for an accelerator, where torch or its backend says whether there is one."""


def asks_for(kind: str, torch: str = "torch") -> str | None:
    """The call that says whether the machine has a kind of device."""
    call = _AVAILABLE.get(kind)
    return None if call is None else call.format(torch=torch)


def choice_of(device: str, torch: str) -> str | None:
    """The expression that gives `device` where the machine has it, else the CPU.

    >>> choice_of("cuda:1", "torch")
    '"cuda:1" if torch.cuda.is_available() else "cpu"'
    """
    available = asks_for(device.partition(":")[0], torch)
    return None if available is None else f'"{device}" if {available} else "cpu"'


@dataclass(frozen=True)
class DefineDevice(Change):
    """Defines `name` as a device where the machine has it, else as the CPU, once for the file.

    The definition follows the imports at the top of the file and precedes the first use by any
    fix. It calls torch as the file does, and imports torch where the file does not.
    """

    looks_around = True

    name: str = "device"
    device: str = "cuda"
    file: str = ""

    def sites(self) -> Iterable[cst.CSTNode]:
        """None: the place follows from the whole file."""
        return ()

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One or two insertions; none where the file has the definition already."""
        preamble = list(_preamble(layout))
        torch = next(filter(None, map(name_of_torch, preamble)), None)
        choice = choice_of(self.device, torch or "torch")
        if choice is None:
            raise NotFixable(f"torch cannot tell whether a {self.device} device exists")
        pattern = f"{self.name} = {torch or 'torch'}.device({choice})"
        if self._is_defined_already(pattern, layout):
            return
        definition = layout.quoted(pattern, 0)
        first_of_torch = next(filter(imports_from_torch, preamble), None)
        if torch is None and first_of_torch is not None:
            start = layout.line_start(extent(first_of_torch, layout).start)
            yield layout.insert(start, f"import torch{layout.newline}")
            torch = "torch"
        paragraphs = [definition] if torch else ["import torch", definition]
        yield _inserted_after(preamble, paragraphs, layout)

    def _is_defined_already(self, pattern: str, layout: Layout) -> bool:
        statement = _first_bindings(layout.module).get(self.name)
        if statement is None:
            return False
        span = layout.span(statement)
        if (
            layout.slice(span.start, span.end).replace("'", '"') != pattern
            or statement not in layout.module.body
        ):
            raise NotFixable(f"{self.name} already means something else")
        if layout.first_use is not None and layout.first_use < span.end:
            raise NotFixable(f"{self.name} is defined only after its first use")
        return True


@functools.lru_cache(maxsize=1)
def _first_bindings(module: cst.Module) -> Mapping[str, cst.CSTNode]:
    """The statement that first binds each name when the module runs."""
    found: dict[str, cst.CSTNode] = {}
    for statement in run_at_import(module.body):
        for name in bound_names(statement):
            found.setdefault(name, statement)
    return found


def _preamble(layout: Layout) -> Iterator[cst.CSTNode]:
    """The statements at the top of the file, up to the last import before the first use."""
    set_up: list[cst.CSTNode] = []
    for index, statement in enumerate(layout.module.body):
        if layout.first_use is not None and layout.first_use < extent(statement, layout).end:
            return
        if _opens_with_import(statement) or (index == 0 and _is_docstring(statement)):
            yield from (*set_up, statement)
            set_up = []
        elif _may_stand_between_imports(statement):
            set_up.append(statement)
        else:
            return


def _inserted_after(
    preamble: Sequence[cst.CSTNode], paragraphs: Sequence[str], layout: Layout
) -> Edit:
    """Puts paragraphs in after the preamble, or before the first statement if there is none."""
    newline = layout.newline
    text = (newline + newline).join(paragraphs)
    if not preamble:
        start = extent(layout.module.body[0], layout).start
        return layout.insert(layout.line_start(start), f"{text}{newline}{newline}")
    offset = layout.next_line(extent(preamble[-1], layout).end)
    if offset is None:
        return layout.insert(len(layout.text), f"{newline}{newline}{text}")
    is_followed_by_code = layout.slice(offset, layout.line_end(offset)).strip() != ""
    return layout.insert(offset, f"{newline}{text}{newline}{newline * is_followed_by_code}")


def _opens_with_import(statement: cst.CSTNode) -> bool:
    """Whether it is an import, or an `if` or `try` around one that is not the main guard."""
    if isinstance(statement, (cst.If, cst.Try)):
        first = next(suites(statement)).body[0]
        return _opens_with_import(first) and not _is_main_guard(statement)
    return any(
        isinstance(small, (cst.Import, cst.ImportFrom)) for small in small_statements(statement)
    )


def _is_main_guard(statement: cst.CSTNode) -> bool:
    test = statement.test if isinstance(statement, cst.If) else None
    return isinstance(test, cst.Comparison) and is_name(test.left, "__name__")


def _is_docstring(statement: cst.CSTNode) -> bool:
    small = small_statements(statement)
    return bool(small) and isinstance(small[0], cst.Expr) and _is_string(small[0].value)


def _is_string(value: cst.CSTNode) -> bool:
    return isinstance(value, (cst.SimpleString, cst.ConcatenatedString))


def _may_stand_between_imports(statement: cst.CSTNode) -> bool:
    """Whether it is like `sys.path.append(…)`, `os.environ[…] = …` or `__author__ = …`."""
    small = small_statements(statement)
    return bool(small) and all(
        isinstance(each, cst.Expr)
        or (isinstance(each, cst.Assign) and not any(map(_is_plain, each.targets)))
        for each in small
    )


def _is_plain(target: cst.AssignTarget) -> bool:
    return isinstance(target.target, cst.Name) and not target.target.value.startswith("__")
