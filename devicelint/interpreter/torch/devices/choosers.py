"""Who chooses a device where the program does not: a library, or the launcher of its processes."""

from __future__ import annotations

from devicelint.interpreter.engine.steps import Notes


class LibraryChoices(Notes):
    """The devices on which libraries place things, which take what the machine has unasked."""

    def __init__(self) -> None:
        self.origins: set[str] = set()


class AcceleratorIndices(Notes):
    """What numbers the devices of an accelerator, such as a process's rank."""

    def __init__(self) -> None:
        self.origins: set[str] = set()
