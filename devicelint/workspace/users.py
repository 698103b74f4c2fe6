"""Who uses what a file of a project defines, as far as its files say."""

from __future__ import annotations

from devicelint.workspace.leading import module_of
from devicelint.workspace.project import Project
from devicelint.workspace.questions import (
    IMPORTED,
    KNOWN,
    LEADING,
    MENTIONED,
    PROGRAM,
    Question,
    parts_of,
)


def is_whole(project: Project, home: str) -> bool:
    """Whether all files are seen that may use one of a project.

    A library without a program has its users elsewhere.
    """
    root = project.root_of(home)
    if project.outsiders.installs(root) and project.about(home, PROGRAM) is None:
        return False
    return project.outsiders.is_whole(root)


def may_be_installed(project: Project, home: str) -> bool:
    """Whether others may install the project of a file; where none is marked, nobody knows."""
    return project.outsiders.may_be_installed(project.root_of(home))


def leading_to(project: Project, home: str) -> list[str]:
    """The programs and tests that import a file: some, the nearest first."""
    return list(parts_of(project.about(home, LEADING)))


def is_led_to(project: Project, home: str) -> bool:
    """Whether another file imports or mentions one, or computes what it imports."""
    is_imported = project.about(home, IMPORTED) is not None
    return is_imported or is_mentioned(project, home, module_of(home))


def is_mentioned(project: Project, home: str, name: str) -> bool:
    """Whether another file mentions what one defines."""
    return project.by_name(home, Question(name, MENTIONED)) is not None


def has_known_callers(project: Project, home: str, name: str) -> bool:
    """Whether few files of the project may call a function, and nobody else."""
    return project.by_name(home, Question(name, KNOWN)) is not None
