"""The frame of a module, function or class body that is being walked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from devicelint.domain.history import Site, Step
from devicelint.domain.state import State
from devicelint.domain.values import Flag, Module, Ref, Value

GLOBALS: Ref = 0
"""Where the global names of the checked file lie."""


@dataclass(slots=True)
class Loop:
    """A loop, and the states in which it was left or begun anew by `break` and `continue`."""

    node: cst.For | cst.While
    since: int
    """The moment of the walk at which it began."""
    told_apart: bool = False
    """Whether its iterations are walked one by one, each for itself."""
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Frame:
    """Names of one scope and what its walk has gathered."""

    ref: Ref
    node: cst.CSTNode
    home: Ref = GLOBALS
    """Where the global names of the file lie in which this is written."""
    scopes: tuple[Ref, ...] = ()
    """Enclosing function scopes, innermost first."""
    caller: Frame | None = None
    site: cst.Call | None = None
    """The call that entered this frame; None when the function is walked on its own."""
    module: Module | None = None
    """The Module whose `forward` this is, when the module itself was called."""
    receiver: Value | None = None
    owner: Ref | None = None
    """The class in whose body the function stands."""
    passed: dict[Step, Site] = field(default_factory=dict)
    """The arguments that carry a device, by the step that put them there."""
    given: tuple[object, ...] = ()
    """What the call has given, so that another one can be told from it."""
    not_local: dict[str, Ref | None] = field(default_factory=dict)
    """Names declared `global` (their ref) or `nonlocal` (None)."""
    loops: list[Loop] = field(default_factory=list)
    iteration: tuple[int, ...] = ()
    """Which iterations this point is in, of the loops that are walked an element at a time."""
    returns: list[tuple[Value, State]] = field(default_factory=list)
    choices: list[Flag] = field(default_factory=list)
    """The flags that nobody knows and that surround this point of the frame."""
    separated_by: Flag | None = None
    """A flag that separates two of the paths that return."""
    yields: list[Value] = field(default_factory=list)
    yields_apart: bool = True
    """Whether all of them are yielded for sure, one after the other, and nothing between."""
    bindings: dict[str, Site] = field(default_factory=dict)
    """The statement that last bound each name."""
    first_bound: dict[str, int] = field(default_factory=dict)
    last_bound: dict[str, int] = field(default_factory=dict)
    """The moments of the walk at which names were bound."""
    left_with: Mapping[str, Value] | None = None
    """The names of a function that has returned."""
    statement: Site = None
    depth: int = 0
    entered_under: int = 0
    """How many conditions that the code cannot tell surround the call."""
    assumed: int = 0
    """How many conditions hold for the rest of the frame, since their other path has ended."""
    assumed_unrelated: int = 0
    """How many of these say nothing of devices."""
    assumed_idle: int = 0
    """How many of these choose nothing."""
    left_out: bool = False
    """Whether a mark of all functions in here says that they are never run, or that they raise."""
    guarded: bool = False
    """Whether a decorator of the class asks for a device."""
    is_reported: bool = False
    """Whether this is another file's code, of which findings are reported as well."""
    keeps_names: bool = False
    """Whether a closure needs the names after the frame is left."""
    is_checked: bool = field(init=False)
    """Whether findings are reported of this code, as not of a file that is merely imported."""

    calls: tuple[cst.Call | None, ...] = field(init=False)
    """The call that entered this frame, the one that entered the caller's, and so on."""

    in_sight: tuple[Ref, ...] = field(init=False)
    """Where a name may be bound that the frame does not declare to be of another scope."""

    def __post_init__(self) -> None:
        self.is_checked = self.is_reported or self.home == GLOBALS
        self.in_sight = (self.ref, *self.scopes, self.home)
        self.calls = (self.site, *(() if self.caller is None else self.caller.calls))

    @property
    def exits(self) -> int:
        """How many paths have left the frame, or gone on with a loop, other than by raising."""
        return len(self.returns) + sum(len(one.breaks) + len(one.continues) for one in self.loops)

    @classmethod
    def of_module(cls, module: cst.Module, home: Ref = GLOBALS) -> Frame:
        """The frame of a file's own statements."""
        return cls(home, module, home)

    def outwards(self) -> Iterator[Frame]:
        """This frame, the one that called it, and so on."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller

    @property
    def repeats(self) -> bool:
        """Whether this point stands for several iterations of a loop."""
        return any(not loop.told_apart for loop in self.loops)

    @property
    def name(self) -> str:
        """The name of the function or class; empty for a module and a lambda."""
        node = self.node
        return node.name.value if isinstance(node, (cst.FunctionDef, cst.ClassDef)) else ""

    def scope_of(self, name: str, state: State) -> Ref:
        """Where a binding of `name` in this frame goes."""
        if name not in self.not_local:
            return self.ref
        declared = self.not_local[name]
        if declared is not None:
            return declared
        return next((ref for ref in self.scopes if state.read(ref, name) is not None), self.ref)

    def refs_of(self, name: str) -> tuple[Ref, ...]:
        """Where a name may be bound that is read here, the innermost scope first."""
        return self.in_sight[1:] if name in self.not_local else self.in_sight

    def enclosing_functions(self) -> tuple[Ref, ...]:
        """The scopes that a function defined here can see."""
        if self.ref == self.home:
            return ()
        if isinstance(self.node, cst.ClassDef):
            return self.scopes
        return (self.ref, *self.scopes)
