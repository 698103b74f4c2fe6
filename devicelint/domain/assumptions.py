"""What a project says of names that no source explains: `loader = "cpu batches"`.

The language is small: a kind of thing, and the device on which it is.  docs/assume.md describes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from devicelint.domain.devices import DEVICE_TYPES, InvalidDevice, parse_device
from devicelint.text.selectors import hint

__all__ = ["AssumedKind", "Assumption", "NotUnderstood", "Thing", "assumption"]


class AssumedKind(Enum):
    """What a thing is."""

    BATCHES = "batches"
    BATCH = "batch"
    TENSOR = "tensor"
    SCALAR = "scalar"
    MODULE = "module"
    DEVICE = "device"
    NUMBER = "number"
    ARRAY = "array"
    LIST = "list"
    DICT = "dict"
    TUPLE = "tuple"


class NotUnderstood(ValueError):
    """An assumption that is not of the language."""


@dataclass(frozen=True)
class Thing:
    """What a name stands for; `device` is as written, and `items` what a container holds."""

    kind: AssumedKind
    device: str = ""
    items: tuple[Thing, ...] = ()


@dataclass(frozen=True)
class Assumption:
    """What is assumed of a name, or of what a call of it gives."""

    name: str
    thing: Thing
    text: str
    """What is written of it."""
    place: str = ""
    """Where that is: `pyproject.toml:12`."""
    is_result: bool = False
    """Whether it is about `name()`."""

    @property
    def key(self) -> str:
        """The name as it is written."""
        return f"{self.name}()" if self.is_result else self.name


_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?P<call>\(\))?")
_WORD = re.compile(r"\s*([(),]|[^\s(),]+)")
_ALIASES = {
    "batches": AssumedKind.BATCHES,
    "batch": AssumedKind.BATCH,
    "tensor": AssumedKind.TENSOR,
    "tensors": AssumedKind.TENSOR,
    "scalar": AssumedKind.SCALAR,
    "scalars": AssumedKind.SCALAR,
    "module": AssumedKind.MODULE,
    "modules": AssumedKind.MODULE,
    "model": AssumedKind.MODULE,
}
"""What lies on a device."""
_PLAIN = {
    "number": AssumedKind.NUMBER,
    "numbers": AssumedKind.NUMBER,
    "array": AssumedKind.ARRAY,
    "arrays": AssumedKind.ARRAY,
}
_CONTAINERS = {"list": AssumedKind.LIST, "dict": AssumedKind.DICT}
_DEEPEST = 8
_DEVICE_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+|\w*device\w*|dev")
"""How an expression is spelt that stands for a device: `args.device`, `device`."""


def assumption(name: str, text: str, place: str = "") -> Assumption:
    """What one line of the configuration says; raises NotUnderstood.

    >>> assumption("loader", "cpu batches").thing
    Thing(kind=<Kind.BATCHES: 'batches'>, device='cpu', items=())
    """
    named = _NAME.fullmatch(name)
    if named is None:
        raise NotUnderstood(f'"{name}" is no name: write it as the code does, "a.b" or "a.b()"')
    reader = _Reader(text)
    thing = reader.thing()
    reader.end()
    return Assumption(name.removesuffix("()"), thing, text, place, bool(named["call"]))


class _Reader:
    """Reads one thing after the other from the words of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = _WORD.findall(text)
        self.depth = 0

    def thing(self) -> Thing:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotUnderstood("is nested too deeply")
        if self._take("loader", "of"):
            return self._on_device({"batches": AssumedKind.BATCHES})
        for word, kind in _CONTAINERS.items():
            if self._take(word, "of"):
                return self._left(Thing(kind, items=(self.thing(),)))
        if self._take("("):
            return self._left(self._tuple())
        if (word := self._next()) in _PLAIN:
            self.words.pop(0)
            return self._left(Thing(_PLAIN[word]))
        if self._take("device"):
            return self._left(Thing(AssumedKind.DEVICE, self._device() if self._goes_on() else ""))
        return self._on_device(_ALIASES)

    def end(self) -> None:
        if self.words:
            raise self._refused(self.words[0])

    def _left(self, thing: Thing) -> Thing:
        self.depth -= 1
        return thing

    def _tuple(self) -> Thing:
        items = [self.thing()]
        while self._take(","):
            items.append(self.thing())
        if not self._take(")"):
            raise NotUnderstood(f'"{self.text}" has no closing parenthesis')
        return Thing(AssumedKind.TUPLE, items=tuple(items))

    def _on_device(self, kinds: dict[str, AssumedKind]) -> Thing:
        """`cpu tensor`, or `tensor on cpu`."""
        first = self._next()
        if first in kinds:
            self.words.pop(0)
            if not self._take("on"):
                raise NotUnderstood(f'"{self.text}" does not say where: "{first} on cpu", say')
            return self._left(Thing(kinds[first], self._device()))
        if len(self.words) < 2 or self.words[1] not in kinds:
            raise self._refused(self.words[1] if len(self.words) > 1 else first)
        device = self._device()
        return self._left(Thing(kinds[self.words.pop(0)], device))

    def _device(self) -> str:
        word = self.words.pop(0) if self.words else ""
        if _DEVICE_NAME.fullmatch(word):
            return word
        try:
            return str(parse_device(word))
        except InvalidDevice:
            message = f'"{word}" in "{self.text}" is no device' if word else "a device is missing"
            meant = "cuda" if word.lower().startswith("gpu") else word
            raise NotUnderstood(message + hint(meant, (*DEVICE_TYPES, "device"))) from None

    def _goes_on(self) -> bool:
        return self._next() not in ("", ",", ")")

    def _next(self) -> str:
        return self.words[0] if self.words else ""

    def _take(self, *words: str) -> bool:
        if tuple(self.words[: len(words)]) != words:
            return False
        del self.words[: len(words)]
        return True

    def _refused(self, word: str) -> NotUnderstood:
        known = (*_ALIASES, *_PLAIN, *_CONTAINERS, "device", "loader")
        return NotUnderstood(f'"{self.text}" is not understood{hint(word, known)}')
