"""What a guard is asked to do, and the environment variables by which child processes know."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Action: TypeAlias = Literal["raise", "warn", "move"]
Mode: TypeAlias = Literal["check", "explain", "warn", "move", "off"]

ACCELERATORS = ("cuda", "mps", "xpu")
"""The device types that a virtual machine can have."""

VARIABLE = "RUNTIME_GUARD"
MACHINE_VARIABLES = (
    "RUNTIME_GUARD_VIRTUAL_GPU",
    "RUNTIME_GUARD_VIRTUAL_GPU_NAME",
    "RUNTIME_GUARD_VIRTUAL_GPU_MEMORY_GB",
    "RUNTIME_GUARD_VIRTUAL_GPU_CUDA",
    "RUNTIME_GUARD_VIRTUAL_GPU_CAPABILITY",
)
"""Describe the virtual machine: the number of its devices, their name, the gigabytes of each, the
version of CUDA for which torch is built, and their compute capability."""
_ACTION_OF: dict[Mode, Action] = {"check": "raise", "warn": "warn", "move": "move"}
_MODE_OF: dict[str, Mode] = {action: mode for mode, action in _ACTION_OF.items()} | {
    "explain": "explain",
    "off": "off",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a guard works; what the arguments of `guard` and the command line's options become.

    Attributes:
        action: what to do about a tensor on the wrong device.
        steps: check this many training steps, then take the check away; None checks them all.
        every: check one step of so many.
        only: patterns (`encoder.*`) of the paths of modules to check; empty checks them all.
        skip: patterns of the paths of modules not to check.
        meta: also judge what lies on `meta`, where offloading parks weights that it brings in time.
    """

    action: Action = "raise"
    steps: int | None = None
    every: int = 1
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    meta: bool = False

    def __post_init__(self) -> None:
        if self.action not in get_args(Action):
            expected = ", ".join(repr(action) for action in get_args(Action))
            raise ValueError(f"action is {self.action!r}: expected one of {expected}")
        if self.steps is not None:
            _require_count("steps", self.steps)
        _require_count("every", self.every)

    def chooses(self, path: str) -> bool:
        """Whether the module at this path is to be checked."""
        if any(fnmatchcase(path, pattern) for pattern in self.skip):
            return False
        return not self.only or any(fnmatchcase(path, pattern) for pattern in self.only)


@dataclass(frozen=True, slots=True)
class VirtualMachine:
    """The accelerators that a program is to find; what the arguments of `virtual_gpu` become.

    Attributes:
        count: how many there are.
        name: their device type.
        memory_gb: the memory of each, in gigabytes of 2**30 bytes; None where nothing runs out.
        cuda: the version of CUDA for which torch is built; None where what is installed says it.
        capability: the compute capability of CUDA devices, as `9.0`; None for the default.
    """

    count: int = 1
    name: str = "cuda"
    memory_gb: float | None = None
    cuda: str | None = None
    capability: str | None = None

    def __post_init__(self) -> None:
        _require_count("count", self.count)
        if self.name not in ACCELERATORS:
            expected = ", ".join(map(repr, ACCELERATORS))
            raise ValueError(f"name is {self.name!r}: expected one of {expected}")
        if self.memory_gb is not None and not _is_size(self.memory_gb):
            raise ValueError(f"memory_gb is {self.memory_gb!r}: expected a number above 0")
        if self.name == "mps" and self.count > 1:
            raise ValueError(f"count is {self.count}: a machine has one mps device")
        if self.cuda is not None and not _is_version(self.cuda):
            raise ValueError(f"cuda is {self.cuda!r}: expected a version of CUDA, as '12.8'")
        if self.capability is not None and not _is_version(self.capability):
            raise ValueError(
                f"capability is {self.capability!r}: expected a compute capability, as '9.0'"
            )

    def __str__(self) -> str:
        memory = "" if self.memory_gb is None else f" with {self.memory_gb:g} GB"
        return f"{self.count} x {self.name}{memory}"


@dataclass(frozen=True, slots=True)
class Environment:
    """What the variables of the environment ask for."""

    mode: Mode
    settings: Settings = field(default_factory=Settings)
    record: str | None = None
    machine: VirtualMachine | None = None


def settings_from(
    *, only: str | Iterable[str] = (), skip: str | Iterable[str] = (), **options: Any
) -> Settings:
    """The settings for the arguments of `guard`; a single pattern may stand without a list.

    Raises:
        ValueError: an option has a value that it cannot have.
    """
    return Settings(only=_patterns(only), skip=_patterns(skip), **options)


def from_environment(environ: Mapping[str, str]) -> Environment | None:
    """What `RUNTIME_GUARD` and its companions ask for; None where they ask for nothing.

    On a virtual GPU nothing is checked unless `RUNTIME_GUARD` says so: a check would stop the
    program before torch's own error, which is what the virtual GPU is for.

    Raises:
        ValueError: a variable has a value that it cannot have; the message names it.
    """
    machine = machine_from_environment(environ)
    mode = environ.get(VARIABLE, "").strip().lower() or ("explain" if machine else "")
    if not mode:
        return None
    if mode not in get_args(Mode):
        raise ValueError(f"{VARIABLE} is {mode!r}: expected one of {', '.join(get_args(Mode))}")
    known = cast("Mode", mode)
    settings = Settings(
        action=_ACTION_OF.get(known, "raise"),
        steps=_count_of(environ, "STEPS"),
        every=_count_of(environ, "EVERY") or 1,
        only=_patterns(environ.get(f"{VARIABLE}_ONLY", "")),
        skip=_patterns(environ.get(f"{VARIABLE}_SKIP", "")),
        meta=environ.get(f"{VARIABLE}_META", "") == "1",
    )
    return Environment(known, settings, environ.get(f"{VARIABLE}_RECORD") or None, machine)


def machine_from_environment(environ: Mapping[str, str]) -> VirtualMachine | None:
    """The virtual machine that the environment asks for.

    Raises:
        ValueError: a variable has a value that it cannot have; the message names it.
    """
    texts = [environ.get(variable, "") for variable in MACHINE_VARIABLES]
    return machine_from(texts, MACHINE_VARIABLES)


def machine_from(texts: Sequence[str], said: Sequence[str]) -> VirtualMachine | None:
    """The virtual machine that texts describe.

    Args:
        texts: one for each of `MACHINE_VARIABLES`, empty where nothing is said; a count of 0
            is none.
        said: the option or the variable that says each.

    Raises:
        ValueError: a text has a value that it cannot have; the message names who says it.
    """
    count, name, memory, cuda, capability = (text.strip() for text in texts)
    if count and not count.isdecimal():
        raise ValueError(f"{said[0]} is {count!r}: expected a number of devices, or 0 for none")
    if not count or int(count) == 0:
        return None
    name = name.lower() or "cuda"
    if name not in ACCELERATORS:
        expected = ", ".join(ACCELERATORS)
        raise ValueError(f"{said[1]} is {name!r}: expected one of {expected}")
    if name == "mps" and int(count) > 1:
        raise ValueError(f"{said[0]} is {count!r}: a machine has one mps device")
    if cuda and not _is_version(cuda):
        raise ValueError(f"{said[3]} is {cuda!r}: expected a version of CUDA, as 12.8")
    if capability and not _is_version(capability):
        raise ValueError(f"{said[4]} is {capability!r}: expected a compute capability, as 9.0")
    size = _size_of(memory, said[2])
    return VirtualMachine(int(count), name, size, cuda or None, capability or None)


def to_environment(asked: Environment) -> dict[str, str]:
    """The variables from which `from_environment` reads the same again."""
    settings = asked.settings
    values = {
        "": asked.mode,
        "_STEPS": "" if settings.steps is None else str(settings.steps),
        "_EVERY": str(settings.every),
        "_ONLY": ",".join(settings.only),
        "_SKIP": ",".join(settings.skip),
        "_META": "1" if settings.meta else "",
        "_RECORD": asked.record or "",
    }
    variables = {f"{VARIABLE}{name}": value for name, value in values.items() if value}
    if asked.machine is not None:
        machine = machine_to_environment(asked.machine)
        variables |= {name: value for name, value in machine.items() if value}
    return variables


def machine_to_environment(machine: VirtualMachine) -> dict[str, str | None]:
    """The variables from which `machine_from_environment` reads the same; None is to be unset."""
    memory = None if machine.memory_gb is None else repr(machine.memory_gb)
    texts = str(machine.count), machine.name, memory, machine.cuda, machine.capability
    return dict(zip(MACHINE_VARIABLES, texts, strict=True))


def mode_of(action: str) -> Mode:
    """The mode in which an installed guard takes this action; `explain` and `off` install none."""
    return _MODE_OF[action]


def _require_count(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} is {value!r}: expected a whole number, 1 or more")


def _is_size(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and value > 0


def _is_version(text: str) -> bool:
    return re.fullmatch(r"\d+\.\d+", text) is not None


def _size_of(text: str, said: str) -> float | None:
    if not text:
        return None
    try:
        size = float(text)
    except ValueError:
        size = math.nan
    if not _is_size(size):
        raise ValueError(f"{said} is {text!r}: expected a number of gigabytes, above 0")
    return size


def _count_of(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(f"{VARIABLE}_{name}", "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{VARIABLE}_{name} is {text!r}: expected a whole number, 1 or more")
    return int(text)


def _patterns(given: str | Iterable[str]) -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else given
    return tuple(part.strip() for part in parts if part.strip())
