"""The machines and settings on which a program is imagined to run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from devicelint.domain.comparing import implied_by
from devicelint.domain.values import Flag


@dataclass(frozen=True, slots=True)
class World:
    """A machine with a number of accelerators, and the settings chosen so far."""

    accelerators: int
    settings: tuple[tuple[str, bool], ...] = ()
    is_set_to_the_cpu: bool = field(default=False, compare=False)
    """Whether a setting keeps something on the CPU here, so that callers keep to the CPU, too."""

    def truth(self, flag: Flag) -> bool | None:
        """What a flag is in this world, or None where the world does not say."""
        for key, chosen in self.settings:
            if key == flag.key:
                return chosen is not flag.negated
        implied = implied_by(self.settings, flag.key)
        return None if implied is None else implied is not flag.negated

    def choosing(self, key: str, chosen: bool, *, on_cpu: bool = False) -> World:
        """This world with one more setting, which may keep things on the CPU."""
        is_set = self.is_set_to_the_cpu or on_cpu
        return replace(self, settings=(*self.settings, (key, chosen)), is_set_to_the_cpu=is_set)

    @property
    def has_settings_on(self) -> bool:
        """Whether a setting is on: the world in which all are off is the last to be walked."""
        return any(chosen for _, chosen in self.settings)

    @property
    def description(self) -> str:
        """As a message says it: "with an accelerator, where `args.cuda`"."""
        machine = ("without an accelerator", "with an accelerator")[self.accelerators > 0]
        if self.accelerators > 1:
            machine = "with several accelerators"
        chosen = [f"`{key}`" if on else f"not `{key}`" for key, on in self.settings]
        return f"{machine}, where {' and '.join(chosen)}" if chosen else machine


def whether_or_not(worlds: Iterable[World]) -> tuple[World, ...]:
    """The same worlds, without settings that make no difference.

    What happens with a setting and without it happens whatever it is.
    """
    kept: list[World] = []
    for world in worlds:
        for place, other in enumerate(kept):
            both = _both(other, world)
            if both is not None:
                rest = kept[place + 1 :]
                kept = [*whether_or_not((*kept[:place], both, *rest))] if both != other else kept
                break
        else:
            kept.append(world)
    return tuple(kept)


def _both(one: World, other: World) -> World | None:
    """The world that two come to, if they are one but for a setting that either has."""
    if one.accelerators != other.accelerators:
        return None
    mine, others = set(one.settings), set(other.settings)
    if mine <= others or others <= mine:
        return one if mine <= others else other
    alone, against = mine - others, others - mine
    if {(key, not chosen) for key, chosen in alone} != against or len(alone) > 1:
        return None
    return replace(one, settings=tuple(each for each in one.settings if each not in alone))


WITHOUT = World(0)
WITH_ONE = World(1)
WITH_SEVERAL = World(2)
