"""Who may call a function besides the file that it stands in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from devicelint.domain.collected import is_collected
from devicelint.workspace.contents import content_of
from devicelint.workspace.files import PASSED_OVER
from devicelint.workspace.named_files import NamedFiles
from devicelint.workspace.roots import is_root
from devicelint.workspace.summaries import Files

_INSTALLS = frozenset({"setup.py", "setup.cfg", "pyproject.toml"})
"""What makes a project one that others install, and call as they like."""
_PACKAGE = "__init__.py"
_RUNS = (".py", ".ipynb")
_TELLING = (".ipynb", ".md", ".rst", ".txt", ".sh", ".yaml", ".yml", ".toml", ".json")
"""How files end, besides Python's, that may say how a program is used."""
_ABOVE = 2


def is_passed_over(folder: str) -> bool:
    """Whether a folder holds no code of a project's own."""
    return folder in PASSED_OVER or folder.startswith(".")


def _lies_apart(home: str, other: str) -> bool:
    return Path(home).parent != Path(other).parent


class Outsiders:
    """The files of a project that may call what another one defines."""

    def __init__(
        self,
        named: NamedFiles,
        listing: Callable[[str], Collection[str]],
        files: Files | None = None,
    ) -> None:
        """Read nothing yet; `named` knows what the Python files mention."""
        self._named = named
        self._told = NamedFiles(is_passed_over, _TELLING, files)
        self._listing = listing

    def forget(self) -> None:
        """Read everything again."""
        self._told.forget()

    def may_call(self, home: str, root: str, name: str) -> bool:
        """Whether another file may call a function of one, or whoever installs the project.

        What lies in a folder of something larger, of which nobody knows the root, others may call.
        """
        if self.is_open(home, root):
            return True
        return any(one is None or set(one) - {home} for one in self._found(root, name))

    def is_told(self, root: str, name: str) -> bool:
        """Whether a notebook or a page of a project calls a function."""
        files, call = self._told.files(root, name), f"{name}(".encode()
        return files is None or any(call in (content_of(one) or b"") for one in files)

    def is_open(self, home: str, root: str) -> bool:
        """Whether others than the files of the project may call what a file defines."""
        is_installed = self.installs(root) and self._is_installed(home, root)
        return is_installed or not self.is_whole(root)

    def may_be_installed(self, root: str) -> bool:
        """Whether others may install a project; where a folder is not marked, nobody knows."""
        return self.installs(root) or not is_root(self._listing(root))

    def installs(self, root: str) -> bool:
        """Whether a project is marked as one that others install."""
        return not _INSTALLS.isdisjoint(self._listing(root))

    def is_whole(self, root: str) -> bool:
        """Whether a folder holds all of a project, and is not one in something larger."""
        above = () if is_root(self._listing(root)) else Path(root).parents[:_ABOVE]
        return not any(
            one.endswith(_RUNS) for folder in above for one in self._listing(str(folder))
        )

    def mention(self, home: str, root: str, name: str) -> bool:
        """Whether another file mentions a name, as far as files can be asked.

        Where others install a project, what lies among its tests is for these alone.
        """
        is_installed = self.installs(root)
        for found in self._found(root, name):
            others = None if found is None else set(found) - {home}
            if others is None or not (is_installed or not others):
                return True
            if any(not is_collected(one) or _lies_apart(home, one) for one in others):
                return True
        return False

    def _found(self, root: str, name: str) -> tuple[tuple[str, ...] | None, ...]:
        return self._named.files(root, name), self._told.files(root, name)

    def _is_installed(self, home: str, root: str) -> bool:
        """Whether a file comes with a project that is installed: at its root, or in a package.

        Packages lie at the root, or in a folder of it such as `src`.
        """
        inside = Path(home).relative_to(root).parts[:-1]
        folders = (Path(root, *inside[:depth]) for depth in (1, 2))
        return not inside or any(_PACKAGE in self._listing(str(one)) for one in folders)
