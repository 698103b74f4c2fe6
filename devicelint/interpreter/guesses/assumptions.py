"""What the project's configuration says of names that no source explains, and of calls of them.

Nothing that the walk understands is overridden: an assumption stands in for what is unknown, or
comes from outside; a signature says what a call does whose code is not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from devicelint.domain.assumptions import Assumption
from devicelint.domain.devices import DeviceOf
from devicelint.domain.names import FullName
from devicelint.domain.values import (
    Batch,
    Function,
    ImportedName,
    Module,
    Ref,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.guesses import Guess
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.interpreter.facts.qualified_names import (
    full_name,
    name_of_function,
    name_of_import,
    written,
)
from devicelint.interpreter.guesses.assumed_values import Maker
from devicelint.interpreter.torch.modules.construction import build_module
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.knowledge import (
    ModuleKnowledge,
    OwnStubs,
    function,
    mark_of,
    module_class,
)

Node = cst.BaseExpression


@dataclass(eq=False)
class Assumed(Guess):
    """What is assumed in one check, and what the walks have met of it."""

    name = "assume"

    assumptions: tuple[Assumption, ...]
    stubs: OwnStubs
    used: set[Assumption] = field(default_factory=set)
    known: dict[Assumption, cst.CSTNode] = field(default_factory=dict)
    """Where a name that something is assumed of is understood without that."""

    @cached_property
    def names(self) -> Mapping[str, Assumption]:
        """What is assumed of names."""
        return {one.name: one for one in self.assumptions if not one.is_result}

    @cached_property
    def results(self) -> Mapping[str, Assumption]:
        """What is assumed of what calls give."""
        return {one.name: one for one in self.assumptions if one.is_result}

    @cached_property
    def _last_parts(self) -> frozenset[str]:
        return frozenset(name.rpartition(".")[2] for name in self.names)

    # -- names -----------------------------------------------------------------------------

    def read(self, run: Run, node: cst.Name | cst.Attribute, value: Value) -> Value | None:
        """What a name stands for that was read as `value`."""
        if not self.names or not run.frame.is_checked:
            return None
        assumption = self._about(run, node, self.names, value)
        if assumption is None:
            return None
        if not _is_open(value, assumption.name):
            self.known.setdefault(assumption, node)
            return None
        self.used.add(assumption)
        return Maker(run, node, assumption).held(_at_rest(assumption))

    def bound(self, run: Run, target: Node, value: Value) -> Value | None:
        """What a name is bound to that is given `value`."""
        if not self.names or not run.frame.is_checked or not isinstance(value, (Unknown, Symbolic)):
            return None
        assumption = self.names.get(written(target))
        if assumption is None:
            return None
        self.used.add(assumption)
        return Maker(run, target, assumption).held(run.allocate(target, "assumed"))

    def parameter(self, run: Run, parameter: cst.Param, value: Value) -> Value | None:
        """What a parameter holds that is given `value`."""
        if isinstance(value, Tensor) and value.device == DeviceOf(parameter.name.value):
            return self.bound(run, parameter.name, Symbolic(parameter.name.value))
        return self.bound(run, parameter.name, value)

    def begin(self, run: Run) -> None:
        """Let what is there from the start be there on every path."""
        for assumption in self.names.values():
            Maker(run, _first_read(run, assumption.name), assumption).held(_at_rest(assumption))

    def _about(
        self, run: Run, node: Node, table: Mapping[str, Assumption], value: Value
    ) -> Assumption | None:
        """What is said of a name as it is written, or of the import that it stands for."""
        assumption = table.get(written(node))
        if assumption is None and isinstance(value, (Unknown, ImportedName, Symbolic)):
            named = full_name(run, node)
            assumption = None if named is None else named.among(table)
        return assumption

    # -- calls -----------------------------------------------------------------------------

    def callee(self, run: Run, func: Node) -> Module | None:
        """The module that an attribute is assumed to be, of an object that knows nothing of it."""
        if not isinstance(func, cst.Attribute):
            return None
        if func.attr.value not in self._last_parts:
            return None
        with run.muted():
            value = run.evaluate(func)
        return value if isinstance(value, Module) and str(value.ref).startswith(_REST) else None

    def result(self, run: Run, site: cst.Call, value: Value) -> Value | None:
        """What a call gives that is understood as `value`."""
        if not self.results or not run.frame.is_checked:
            return None
        assumption = self._about(run, site.func, self.results, Unknown("a callee"))
        if assumption is None:
            return None
        if not isinstance(value, (Unknown, Symbolic)):
            self.known.setdefault(assumption, site)
            return None
        self.used.add(assumption)
        return Maker(run, site, assumption).held(run.allocate(site, "assumed"))

    def called(self, run: Run, callee: Value, arguments: Arguments, site: cst.Call) -> Value | None:
        """What calling something gives that the project states a signature of."""
        if not isinstance(callee, (ImportedName, Function)):
            return None
        named = _named(run, callee)
        signature = None if named is None else named.among(self.stubs.functions)
        if signature is not None:
            return apply_signature(run, signature, arguments, site, name=signature.name)
        knowledge = None if named is None else named.among(self.stubs.modules)
        return None if knowledge is None else build_module(run, "", knowledge, arguments, site)

    def module(self, name: str) -> ModuleKnowledge | None:
        """What is stated of the class of a module."""
        return self.stubs.modules.get(name)

    def stated_as(self, named: FullName) -> str | None:
        """Under which name the project states a signature of something, where it does."""
        return named.key_in(self.stubs.functions) or named.key_in(self.stubs.modules)


_REST = "@assumed:"


def _at_rest(assumption: Assumption) -> Ref:
    return f"{_REST}{assumption.name}"


def _first_read(run: Run, name: str) -> cst.CSTNode:
    """Where a name is first read, or else where the file begins."""
    reads = reads_of(run.module)
    last = name.rpartition(".")[2]
    found = (*reads.names.get(last, ()), *reads.attributes.get(last, ()))
    # What stands further down comes earlier.
    return next((node for node in reversed(found) if written(node) == name), run.module)


def _named(run: Run, callee: ImportedName | Function) -> FullName | None:
    if isinstance(callee, Function):
        return name_of_function(run, callee)
    return name_of_import(run, callee.name)


def _is_open(value: Value, name: str) -> bool:
    """Whether nothing is known of a value that was read under a name."""
    match value:
        case Unknown() | Symbolic():
            return True
        case ImportedName(full):
            is_known = function(full) or module_class(full) or mark_of(full)
            return not is_known and full.partition(".")[0] not in _UNDERSTOOD
        case Tensor() | Batch():
            return value.device == DeviceOf(name)
        case _:
            return False


_UNDERSTOOD = frozenset({"torch", "numpy", "builtins"})
