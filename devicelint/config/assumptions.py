"""What a project says of code that no source explains: `assume` and `stubs`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.config.document import ConfigError, SettingsNode
from devicelint.config.kinds import Known, Paths, SettingKind

if TYPE_CHECKING:
    from devicelint.domain.assumptions import Assumption

_USUAL = "devicelint.pyi"
"""The stub file that is read where it lies beside the configuration."""


class Assumptions(SettingKind[tuple["Assumption", ...]]):
    """A table of names, each with what it stands for."""

    expected = 'a table of words such as `loader = "cpu batches"`'

    def read(self, node: SettingsNode, known: Known) -> tuple[Assumption, ...]:  # noqa: ARG002
        """What is assumed, in the file's order."""
        from devicelint.domain.assumptions import NotUnderstood, assumption

        found = []
        for name, each in node.leaves():
            place = each.document.location(each.way)
            try:
                text = each.string()
                found.append(assumption(name, text, f"{each.document.path.name}:{place.line}"))
            except NotUnderstood as error:
                raise each.error(str(error)) from None
        return tuple(found)

    def merged(
        self, base: tuple[Assumption, ...], own: tuple[Assumption, ...]
    ) -> tuple[Assumption, ...]:
        """Those of both; of a name that both speak of, that of the file itself."""
        said = {(one.name, one.is_result) for one in own}
        return (*(one for one in base if (one.name, one.is_result) not in said), *own)

    def plain(self, value: tuple[Assumption, ...]) -> dict[str, str]:
        """The table."""
        return {one.key: one.text for one in value}


@dataclass(frozen=True)
class StubFile:
    """One file, and what it said when the configuration was read."""

    path: Path
    text: str


class Stubs(SettingKind[tuple[StubFile, ...]]):
    """A list of stub files, from the folder of the file that names them."""

    expected = "a list of paths"

    def read(self, node: SettingsNode, known: Known) -> tuple[StubFile, ...]:
        """The files; raises ConfigError for one that does not keep to the notation."""
        paths = Paths().read(node, known)
        for path, item in zip(paths, node.items(self.expected), strict=True):
            if not path.is_file():
                raise item.error(f"there is no file {path}")
        return tuple(map(_read, paths))

    def unsaid(self, base: tuple[StubFile, ...], folder: Path) -> tuple[StubFile, ...]:
        """The usual file, where it is there."""
        usual = folder / _USUAL
        return (_read(usual),) if usual.is_file() else base

    def plain(self, value: tuple[StubFile, ...]) -> list[str]:
        """The paths."""
        return [str(each.path) for each in value]


def _read(path: Path) -> StubFile:
    from devicelint.knowledge.grammar import GrammarError
    from devicelint.knowledge.own import read

    shown = os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        read(text)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise ConfigError(shown, 1, 0, message) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(shown, line, 0, "is not UTF-8") from None
    except GrammarError as error:
        raise ConfigError(shown, error.line, 0, error.message) from None
    return StubFile(path, text)
