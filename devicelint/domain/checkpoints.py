"""Files of checkpoints: what those hold that a project writes, and what is read of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from devicelint.domain.devices import CPU, Device, Unsure


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that is saved, with tensors in it."""

    name: str | None
    """What it is called, `*` for what nobody knows; None where all of it is somebody's choice."""
    places: frozenset[Device | None]
    """Where what is saved lies; None for what lies wherever a model does that is not seen."""
    keys: frozenset[str] | None = None
    """Under which keys it is saved; None where there may be others."""
    is_brought: bool = False
    """Whether the code moves some of it to the CPU before it is saved, for every machine."""

    @property
    def is_from_the_cpu(self) -> bool:
        """Whether all of it is on the CPU as it is saved."""
        return self.places == {CPU}

    @property
    def is_from_elsewhere(self) -> bool:
        """Whether some of it is known to be anywhere else."""
        return any(one not in (None, CPU) and not isinstance(one, Unsure) for one in self.places)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that is loaded."""

    name: str | None
    keys: frozenset[str] = frozenset()
    """The keys that it is asked for."""

    def may_be(self, written: WrittenFile) -> bool:
        """Whether the one that is read may be the one that was written, by name and contents."""
        if self.keys and written.keys is not None and self.keys.isdisjoint(written.keys):
            return False
        if self.name is None or written.name is None:
            return True
        return fnmatchcase(self.name, written.name) or fnmatchcase(written.name, self.name)

    def is_from_the_cpu(self, files: Iterable[WrittenFile]) -> bool:
        """Whether there are some among these that it may be, all saved from the CPU.

        Who moves what is saved there means it for every machine: what lies nobody knows where does
        not speak against that.
        """
        found: list[WrittenFile] = []
        for one in files:
            if self.may_be(one):
                if one.is_from_elsewhere and self._fits(one):
                    return False  # To know the others may take walking more files.
                found.append(one)
        likeliest = list(filter(self._fits, found)) or found
        if any(one.is_brought for one in likeliest):
            return not any(one.is_from_elsewhere for one in likeliest)
        return bool(likeliest) and all(one.is_from_the_cpu for one in likeliest)

    def _fits(self, written: WrittenFile) -> bool:
        """Whether a file is saved under all the keys that it is asked for."""
        return not self.keys or (written.keys is not None and self.keys <= written.keys)
