"""The machines and settings on which a program is imagined to run."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from devicelint.domain.comparing import implied_by
from devicelint.domain.values import Flag


@dataclass(frozen=True, slots=True)
class World:
    """A machine with a number of accelerators, and the settings chosen so far."""

    accelerators: int
    settings: tuple[tuple[str, bool], ...] = ()

    def truth(self, flag: Flag) -> bool | None:
        """What a flag is in this world, or None where the world does not say."""
        for key, chosen in self.settings:
            if key == flag.key:
                return chosen is not flag.negated
        implied = implied_by(self.settings, flag.key)
        return None if implied is None else implied is not flag.negated

    def choosing(self, key: str, chosen: bool) -> World:
        """This world with one more setting."""
        return replace(self, settings=(*self.settings, (key, chosen)))

    @property
    def has_settings_on(self) -> bool:
        """Whether a setting is on: the world in which all are off is the last to be walked."""
        return any(chosen for _, chosen in self.settings)

    @property
    def is_set_to_the_cpu(self) -> bool:
        """Whether a setting such as `cuda` is off here, so that callers keep to the CPU, too."""
        return any(
            chosen is (_FOR_THE_CPU.fullmatch(key) is not None)
            for key, chosen in self.settings
            if _ABOUT_DEVICES.fullmatch(key)
        )

    @property
    def description(self) -> str:
        """As a message says it: "with an accelerator, where `args.cuda`"."""
        machine = ("without an accelerator", "with an accelerator")[self.accelerators > 0]
        if self.accelerators > 1:
            machine = "with several accelerators"
        chosen = [f"`{key}`" if on else f"not `{key}`" for key, on in self.settings]
        return f"{machine}, where {' and '.join(chosen)}" if chosen else machine


_ABOUT_DEVICES = re.compile(r"[\w.]*(?:cuda|gpu|cpu)s?", re.IGNORECASE)
_FOR_THE_CPU = re.compile(r"(?:[\w.]*\.)?(?:(?:no|disable)_?(?:cuda|gpu)s?|\w*cpu)", re.IGNORECASE)

WITHOUT = World(0)
WITH_ONE = World(1)
WITH_SEVERAL = World(2)
