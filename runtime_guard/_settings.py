"""What a guard is told to do, and the environment variables that tell child processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Action: TypeAlias = Literal["raise", "warn", "move"]
Mode: TypeAlias = Literal["check", "explain", "warn", "move", "off"]

VARIABLE = "RUNTIME_GUARD"
_ACTION_OF: dict[Mode, Action] = {"check": "raise", "warn": "warn", "move": "move"}
_MODE_OF: dict[Action, Mode] = {action: mode for mode, action in _ACTION_OF.items()}


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
class Environment:
    """What the variables of the environment ask for."""

    mode: Mode
    settings: Settings = field(default_factory=Settings)
    record: str | None = None


def settings_from(
    *, only: str | Iterable[str] = (), skip: str | Iterable[str] = (), **options: Any
) -> Settings:
    """The settings for the arguments of `guard`; a single pattern may stand without a list.

    Raises:
        ValueError: an option has a value that it cannot have.
    """
    return Settings(only=_patterns(only), skip=_patterns(skip), **options)


def from_environment(environ: Mapping[str, str]) -> Environment | None:
    """What `RUNTIME_GUARD` and its companions ask for; None where it is not set.

    Raises:
        ValueError: a variable has a value that it cannot have; the message names it.
    """
    mode = environ.get(VARIABLE, "").strip().lower()
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
    return Environment(known, settings, environ.get(f"{VARIABLE}_RECORD") or None)


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
    return {f"{VARIABLE}{name}": value for name, value in values.items() if value}


def mode_of(action: Action) -> Mode:
    """The mode in which an installed guard takes this action."""
    return _MODE_OF[action]


def _require_count(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} is {value!r}: expected a whole number, 1 or more")


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
