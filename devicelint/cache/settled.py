"""What findings rest on in a project of which nothing at all has changed since that was found out.

A project has one state: the names of its files and what is in them. While it is the same, no
question about the project has another answer than before, and none is asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cache import shard
from devicelint.text.hashing import digest
from devicelint.workspace.import_resolver import ImportResolver
from devicelint.workspace.questions import Question, read_for
from devicelint.workspace.roots import is_root, listed

if TYPE_CHECKING:
    from devicelint.workspace.summaries.tree import ProjectTree

_NOT_SEEN = "node_modules"
"""A module of this name would lie where a tree is not looked into."""


class SettledGrounds:
    """The grounds of files, as far as those of the whole project are known."""

    def __init__(self, resolver: ImportResolver, place: Path | None, *, reads: bool) -> None:
        """Look into `place`; a project is read as soon as a file of it comes, if it `reads`."""
        self._resolver = resolver
        self._place = place if reads else None
        self._roots: dict[str, str] = {}
        self._trees: dict[str, ProjectTree] = {}
        self._grounds: dict[str, dict[str, str]] = {}

    def get(self, home: str) -> str | None:
        """What the findings of a file rest on, where nothing in its project has changed."""
        tree = self._tree(home)
        return None if tree is None else self._grounds_in(tree).get(home)

    def is_inside(self, home: str, answers: Iterable[tuple[Question, str | None]]) -> bool:
        """Whether nothing outside the project can change what was asked in a file."""
        tree = self._tree(home)
        if tree is None or not tree.holds(home):
            return False
        return all(
            all(map(tree.holds, read_for(question, answer)))
            and _NOT_SEEN not in question.module
            and (question.level <= 1 or _is_above(tree.root, home, question.level))
            for question, answer in answers
        )

    def save(self, grounds: Mapping[str, str]) -> None:
        """Remember grounds that hold while the projects stay as they are; raises OSError."""
        found: dict[str, dict[str, str]] = {}
        for home, ground in grounds.items():
            if (tree := self._tree(home)) is not None:
                found.setdefault(tree.root, {})[home] = ground
        for root, new in found.items():
            tree, known = self._trees[root], self._grounds_in(self._trees[root])
            if new.items() <= known.items() or not tree.has_the_same_names():
                continue
            assert self._place is not None
            data = {"root": root, "state": tree.state, "grounds": {**known, **new}}
            shard.write_data(self._path(self._place, root), data)

    def _tree(self, home: str) -> ProjectTree | None:
        if self._place is None:
            return None
        root = self._root_of(os.path.dirname(home))
        if not root:
            return None
        if root not in self._trees:
            from devicelint.workspace.summaries.tree import ProjectTree

            self._trees[root] = ProjectTree.of(root, self._resolver.content)
        tree = self._trees[root]
        return tree if tree.state else None

    def _root_of(self, folder: str) -> str:
        """The root of the project around a folder; empty where nothing marks one."""
        if folder not in self._roots:
            root = self._resolver.root_of(os.path.join(folder, "_"))
            self._roots[folder] = root if is_root(listed(root)) else ""
        return self._roots[folder]

    def _grounds_in(self, tree: ProjectTree) -> dict[str, str]:
        if tree.root not in self._grounds:
            assert self._place is not None
            self._grounds[tree.root] = _read(self._path(self._place, tree.root), tree)
        return self._grounds[tree.root]

    @staticmethod
    def _path(place: Path, root: str) -> Path:
        return place / f"project-{digest(root.encode('utf-8', 'surrogatepass'))}.json"


def _read(path: Path, tree: ProjectTree) -> dict[str, str]:
    try:
        data = shard.read_data(path)
        if data["root"] != tree.root or data["state"] != tree.state:
            return {}
        return {str(home): str(ground) for home, ground in data["grounds"].items()}
    except shard.DAMAGES:
        return {}


def _is_above(root: str, home: str, level: int) -> bool:
    """Whether a relative import stays in the project."""
    return home.count(os.sep) - root.count(os.sep) >= level
