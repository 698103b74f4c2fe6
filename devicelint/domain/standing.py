"""How sure a clash is: what is known of the operand that is not where the other one is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.history import Site


class Level(Enum):
    """What is known of the operand that is not where the other one is."""

    CERTAIN = "certain"
    """A known device, or one that the program chooses."""
    CALLED = "called"
    """A caller's device, and a call in the project that says which."""
    OWN_RULE = "own rule"
    """What the code itself shows elsewhere: it moves such a value, or treats it as movable."""
    MODULE = "module"
    """A caller's device, inside a Module or where such as a Module computes with are."""
    OPEN = "open"
    """A caller's device, in a file that lies alone, so that nothing says who calls it."""
    POSSIBLE = "possible"
    """A caller's device, and nothing that says which."""


@dataclass(slots=True, eq=False)
class Conduct:
    """What the code does with the parameters of its functions, as far as it was walked."""

    movable: set[Site] = field(default_factory=set)
    """The parameters that it treats as what may be on any device, and their functions."""
    learning: set[Site] = field(default_factory=set)
    """The parameters that models compute with, and their functions."""
    on_host: set[Site] = field(default_factory=set)
    """The functions that are called on the host, with what lies there."""
    for_the_cpu: set[Site] = field(default_factory=set)
    """The parameters that it hands on to what takes tensors of the CPU alone, as lengths are."""
    told: dict[Site, set[Site]] = field(default_factory=dict)
    """The parameters of constructors that a call of the file gives something to, each with the
    parameters of other constructors that it is given on; None stands for all else."""
    seen_to: set[Site] = field(default_factory=set)
    """The plain containers of modules that it moves or optimizes one by one, and the Modules that
    bring what a part gives to where another part is."""

    def givers(self, parameters: Iterable[Site]) -> frozenset[Site]:
        """Parameters, and those that they are given from in turn; None for all else."""
        found: set[Site] = set()
        waiting = list(parameters)
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self.told.get(one, ())
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a caller's choice comes in: a function that nobody in the file is seen to call."""

    function: Site
    cls: Site = None
    """The class whose method it is."""
    parameter: str = ""
    """What a caller of the function gives; none, where whoever has the object chooses."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The level of a clash, and what would raise it."""

    level: Level
    symbols: frozenset[Site] = field(default=frozenset(), repr=False)
    """The parameters that the operands come from, and the functions that received these."""
    has_own: bool = False
    """Whether the code computes on a device of its own: its model's, or one that it names."""
    goes: bool = False
    """Whether the code goes to an accelerator itself, wherever its callers are."""
    may_be_array: bool = False
    """Whether nothing declares to be a tensor what is read as an array."""
    is_known: bool = False
    """Whether the code says of what callers give that it is a tensor, or shows it."""
    asks_calls: bool = False
    """Whether it takes a call that gives a parameter something, whatever the code does with it."""
    entries: frozenset[Entry] = field(default=frozenset(), repr=False)
    """Where the callers' choices come in, as far as it takes a caller to make it true.

    Of devices that are known, these are the parameters that name them.
    """

    def given(self, conduct: Conduct) -> Level:
        """The level, once it is known what the code does."""
        if self.asks_calls:
            return self.level
        if self.level is Level.POSSIBLE and not self.symbols.isdisjoint(conduct.movable):
            return Level.OWN_RULE
        if self.level is Level.POSSIBLE and not self.has_own:
            return self.level if self.symbols.isdisjoint(conduct.learning) else Level.MODULE
        return self.level

    def is_said_of_callers(self, conduct: Conduct) -> bool:
        """Whether what a function does with what it takes says that callers may have it elsewhere.

        It says what the function provides for, and not that anybody does so.
        """
        if self.level is not Level.POSSIBLE or self.has_own:
            return False
        return self.given(conduct) is not Level.POSSIBLE

    def is_undeclared(self, conduct: Conduct) -> bool:
        """Whether an array may be read, and nothing that the code does says otherwise."""
        return self.may_be_array and self.given(conduct) is Level.POSSIBLE

    def may_be_open(self, conduct: Conduct) -> bool:
        """Whether a tensor is asked of callers, who alone decide where it is."""
        return self.is_known and not self.has_own and self.given(conduct) is Level.POSSIBLE

    def is_on_host(self, conduct: Conduct) -> bool:
        """Whether an operand was received by what is called on the host."""
        return not self.symbols.isdisjoint(conduct.on_host)

    def is_for_the_cpu(self, conduct: Conduct) -> bool:
        """Whether an operand was received that the code itself needs on the CPU."""
        return not self.symbols.isdisjoint(conduct.for_the_cpu)

    def is_shown_there(self, conduct: Conduct) -> bool:
        """Whether a function that was called has a rule of its own, which its own file breaks."""
        return self.level is Level.CALLED and not self.symbols.isdisjoint(conduct.movable)


CERTAIN = Standing(Level.CERTAIN)
