"""Puts things in the place of torch's own, and gives every place back as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_ABSENT: Final = object()


class Patches:
    """Replacements that are in effect until they are taken back, the last first."""

    def __init__(self) -> None:
        self._former: list[tuple[Any, str, Any]] = []
        self._resets: list[Callable[[], None]] = []

    def put(self, holder: Any, name: str, value: Any) -> Any:
        """Put a value in the place of `holder.name`, and return what the place gave before.

        What the place gave is None where `holder` had no such name, not even inherited.
        """
        previous = getattr(holder, name, None)
        self._former.append((holder, name, vars(holder).get(name, _ABSENT)))
        setattr(holder, name, value)
        return previous

    def put_item(self, mapping: dict[Any, Any], key: Any, value: Any) -> None:
        """Put a value in a dictionary."""
        self._former.append((_Items(mapping), key, mapping.get(key, _ABSENT)))
        mapping[key] = value

    def at_undo(self, do: Callable[[], None]) -> None:
        """Let something else be undone at its turn."""
        self._former.append((do, "", None))

    def at_reset(self, do: Callable[[], None]) -> None:
        """Let something be done whenever the program is to begin anew, and at the end."""
        self._resets.append(do)
        self.at_undo(do)

    def reset(self) -> None:
        """Let the program begin anew, with the same in effect."""
        for do in self._resets:
            do()

    def undo(self) -> None:
        """Give every place back."""
        self._resets.clear()
        while self._former:
            holder, name, value = self._former.pop()
            if isinstance(holder, _Items):
                holder.give_back(name, value)
            elif not name:
                holder()
            elif value is _ABSENT:
                delattr(holder, name)
            else:
                setattr(holder, name, value)


class _Items:
    """A dictionary as a holder."""

    def __init__(self, mapping: dict[Any, Any]) -> None:
        self._mapping = mapping

    def give_back(self, key: Any, value: Any) -> None:
        if value is _ABSENT:
            self._mapping.pop(key, None)
        else:
            self._mapping[key] = value
