"""What the files of a project do with the machine: choose what they run on, or take an accelerator.

A Module in one file and the program that chooses its device in another is the usual layout.  Each
file is read once, with Python's own parser, and nothing of it is kept but what is asked for here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeGuard

from devicelint.domain.devices import DEVICE_TYPES
from devicelint.workspace.beginnings import imported_at_once, imported_instead, starts
from devicelint.workspace.default_devices import sets_default_device
from devicelint.workspace.extensions import builds_for_cuda, installed_for_cuda
from devicelint.workspace.full_names import bound_by, full_name
from devicelint.workspace.syntax import imports_among, nodes_of, parameters_of, parsed

_ASKS = frozenset(
    {
        *("torch.cuda.is_available", "torch.mps.is_available", "torch.xpu.is_available"),
        *("torch.accelerator.is_available", "torch.accelerator.current_accelerator"),
        "torch.backends.mps.is_available",
    }
)
"""What tells whether there is an accelerator."""
_MOVERS = frozenset(
    {
        *("accelerate", "catalyst", "composer", "deepspeed", "detectron2", "fastai", "ignite"),
        *("lightning", "mmcv", "mmengine", "pytorch_lightning", "ray", "skorch", "transformers"),
    }
)
"""Packages that put on an accelerator what they are given, unasked."""
_OF_DEVICES = frozenset({"cuda", "device", "is_cuda", "get_device", "mps", "type_as", "xpu"})
"""What tensors and torch have that tells of devices."""
_ELSEWHERE = DEVICE_TYPES - {"cpu", "lazy", "meta"}
_WORDS = tuple(one.encode() for one in sorted(_MOVERS | _OF_DEVICES | _ELSEWHERE))
"""One of them stands in every file that may leave the CPU."""


@dataclass(frozen=True, slots=True)
class MachineUse:
    """What a file does with the machine, and what it imports."""

    chooses: bool = False
    """Whether it runs on whatever the machine has, or on what somebody chooses."""
    takes: bool = False
    """Whether it is a program that goes to an accelerator without asking for one."""
    lets: bool = False
    """Whether it goes to a device that somebody names, in the settings or as an argument."""
    defaults: bool = False
    """Whether it says on which device tensors are made that are given none."""
    starts: bool = False
    """Whether its statements do something, rather than define what others use."""
    leaves: bool = False
    """Whether it may have anything to do with another device than the CPU."""
    trains: bool = False
    """Whether it computes gradients."""
    imports: tuple[tuple[str, int], ...] = ()
    """The modules, and the dots before them; what is imported from one may be one, too."""
    at_once: frozenset[tuple[str, int]] = frozenset()
    """Those of them that it imports in any case."""
    instead: tuple[tuple[frozenset[tuple[str, int]], ...], ...] = ()
    """Those of which it imports one group or another: for each choice, its groups."""
    imports_any: bool = False
    """Whether it imports a module whose name is computed."""
    builds: bool = False
    """Whether it builds an extension with code for CUDA, as soon as it is imported."""
    installs: frozenset[str] = frozenset()
    """The modules with such code that it builds for those who install the project."""

    @classmethod
    def of(cls, data: bytes, *, is_package: bool = False) -> MachineUse:
        """What a file does; nothing, where it knows nothing of torch or is no Python.

        A setting that names a device is one in any file, and a package hands on what it imports.
        """
        is_about_torch = b"torch" in data
        if not (is_about_torch or is_package) and not any(one in data for one in _WORDS):
            return cls()
        tree = parsed(data)
        if tree is None:
            return cls()
        file = _File(tree)
        if not is_about_torch:
            imported = tuple(file.imports) if is_package else ()
            return cls(
                leaves=file.leaves,
                imports=imported,
                at_once=frozenset(imported_at_once(tree)),
                imports_any=file.imports_any,
            )
        takes = not file.chooses and file.is_started and file.goes_to_accelerator
        return cls(
            chooses=file.chooses,
            takes=takes,
            lets=file.lets,
            defaults=file.defaults,
            starts=file.is_started,
            leaves=file.leaves,
            trains=file.trains,
            imports=tuple(file.imports),
            at_once=frozenset(imported_at_once(tree)),
            imports_any=file.imports_any,
            instead=tuple(imported_instead(tree)),
            builds=builds_for_cuda(tree.body, file.full_name),
            installs=file.installs,
        )


@dataclass(frozen=True)
class _File:
    """One file's tree, and what is asked of it."""

    tree: ast.Module

    @cached_property
    def _by_kind(self) -> Mapping[type[ast.AST], Sequence[ast.AST]]:
        """All its nodes; both kinds of imports are one."""
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in nodes_of(self.tree):
            kind = ast.Import if type(node) is ast.ImportFrom else type(node)
            found.setdefault(kind, []).append(node)
        return found

    def _of(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """The nodes of some kinds."""
        return chain.from_iterable(self._by_kind.get(kind, ()) for kind in kinds)

    @cached_property
    def _meant(self) -> Mapping[str, str]:
        """What its imports bind, by its full name."""
        return bound_by(self._of(ast.Import))

    @property
    def imports(self) -> Iterator[tuple[str, int]]:
        """Each module that may be imported, once for each import."""
        return imports_among(self._of(ast.Import))

    @property
    def imports_any(self) -> bool:
        """Whether a module is imported whose name is computed."""
        return any(
            isinstance(one, ast.Call)
            and self.full_name(one.func) == "importlib.import_module"
            and not isinstance(one.args[0] if one.args else None, ast.Constant)
            for one in self._of(ast.Call)
        )

    def full_name(self, node: ast.expr) -> str:
        """The full name of what an expression means, where an import says so."""
        return full_name(node, self._meant)

    @cached_property
    def chooses(self) -> bool:
        """Whether something depends on what the machine has, or somebody says which device."""
        asked = [one for one in self._of(ast.Call) if self._is_choice(one)]
        if not asked:
            return False
        guards = self._of(ast.Assert, ast.If, ast.IfExp)
        excused = {id(one) for node in guards for one in self._excused(node)}
        return any(id(one) not in excused for one in asked)

    def _is_choice(self, node: ast.AST) -> bool:
        if self._is_device(node):
            return isinstance(node.args[0], (ast.Name, ast.Attribute, ast.IfExp, ast.Subscript))
        return isinstance(node, ast.Call) and self.full_name(node.func) in _ASKS

    @property
    def lets(self) -> bool:
        """Whether a setting, or what a function is given, says by name which device to go to."""
        given = [one.args[0] for one in self._of(ast.Call) if self._is_device(one)]
        if any(isinstance(one, (ast.Attribute, ast.Subscript)) for one in given):
            return True
        names = {id(one): one.id for one in given if isinstance(one, ast.Name)}
        return bool(names) and any(
            names.get(id(one)) in parameters_of(function)
            for function in self._of(ast.FunctionDef, ast.AsyncFunctionDef)
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
            for one in ast.walk(function)
        )

    @property
    def defaults(self) -> bool:
        """Whether tensors that are given no device are made to lie on another than the CPU."""
        calls = (one for one in self._of(ast.Call) if isinstance(one, ast.Call))
        return any(sets_default_device(one, self.full_name) for one in calls)

    def _is_device(self, node: ast.AST) -> TypeGuard[ast.Call]:
        """Whether this is `torch.device(…)`."""
        if not (isinstance(node, ast.Call) and node.args):
            return False
        return self.full_name(node.func) == "torch.device"

    def _excused(self, node: ast.AST) -> Iterator[ast.AST]:
        """Questions that place nothing: those that end the program, set up CUDA, or only say so."""
        match node:
            case ast.Assert(test):
                yield from ast.walk(test)
            case ast.If(test, body, orelse):
                if self._ends(body[-1]) or not any(map(self._may_place, (*body, *orelse))):
                    yield from ast.walk(test)
            case ast.IfExp(test, body, orelse):
                if not any(map(self._may_place, (body, orelse))):
                    yield from ast.walk(test)
            case _:
                pass

    def _ends(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Raise():
                return True
            case ast.Expr(ast.Call(func)):
                return self.full_name(func) in ("sys.exit", "os._exit")
            case _:
                return False

    def _may_place(self, branch: ast.AST) -> bool:
        """Whether a branch moves something, names a device, or keeps what others may go by."""
        return any(map(self._places, ast.walk(branch)))

    def _places(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(ast.Attribute(attr="to" | "cuda" | "xpu" | "set_device")):
                return True
            case ast.Return() | ast.Assign(value=ast.Constant()):
                return True
            case ast.Constant(str(value)):
                return value.partition(":")[0] in DEVICE_TYPES
            case ast.Attribute(attr=name):
                return name.endswith("Tensor") and self.full_name(node) == f"torch.cuda.{name}"
            case _:
                return False

    @property
    def is_started(self) -> bool:
        """Whether its statements do something, rather than define what others use."""
        return any(map(starts, self.tree.body))

    @property
    def leaves(self) -> bool:
        """Whether anything speaks of a device, or may move what it is given there."""
        speaking = (ast.Attribute, ast.Call, ast.keyword, ast.Constant, ast.Import)
        return any(map(self._speaks_of_device, self._of(*speaking)))

    def _speaks_of_device(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr=name):
                return name in _OF_DEVICES
            case ast.Call(ast.Attribute(attr="to"), args=[given, *_]):
                return not self.full_name(given).startswith("torch.")
            case ast.keyword(arg="device"):
                return True
            case ast.Constant(str(value)):
                return value.partition(":")[0] in _ELSEWHERE
            case ast.Import(names):
                return any(one.name.partition(".")[0] in _MOVERS for one in names)
            case ast.ImportFrom(module=str(module), level=0):
                return module.partition(".")[0] in _MOVERS
            case _:
                return False

    @property
    def installs(self) -> frozenset[str]:
        """The modules with code for CUDA that are built for an installation."""
        return frozenset(installed_for_cuda(self._of(ast.Call), self.full_name))

    @property
    def trains(self) -> bool:
        """Whether gradients are computed."""
        return any(
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Attribute)
            and one.func.attr == "backward"
            for one in self._of(ast.Call)
        )

    @property
    def goes_to_accelerator(self) -> bool:
        """Whether `.cuda()` is called, or an accelerator named, anywhere in it."""
        return any(map(goes, self._of(ast.Call, ast.keyword)))


def goes(node: ast.AST) -> bool:
    """Whether a call or an argument goes to an accelerator by name."""
    match node:
        case ast.Call(ast.Attribute(attr="cuda")):
            return True
        case ast.Call(ast.Attribute(attr="to" | "device"), args=[ast.Constant(str(name)), *_]):
            return name.partition(":")[0] == "cuda"
        case ast.keyword("device", ast.Constant(str(name))):
            return name.partition(":")[0] == "cuda"
        case _:
            return False
