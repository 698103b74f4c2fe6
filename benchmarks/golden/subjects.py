"""What is checked for the golden files: sections of pages, examples, listings, checkouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from benchmarks.checkouts import checkouts_below
from devicelint.config import Config
from devicelint.text.source import SourceFile
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project
from tests.mdtest.expectations import annotated
from tests.mdtest.markdown import Fence, elements
from tests.mdtest.page import Section, sections
from tests.mdtest.plugin import is_page
from tests.mdtest.runner import files_of
from tests.mdtest.scripts import folder_with
from tests.mdtest.subject import config_of

HERE = Path(__file__).resolve().parents[2]
EVERY_RULE = Config(extend_select=("DEV",))


@dataclass(frozen=True)
class Subject:
    """One text to check.

    Attributes:
        name: what the golden file calls it.
        read: gives its source; called inside of `place`.
        config: how it is checked.
        place: the folder that it lies in.
        project: what its imports lead to.
        is_adopted: whether what adoption makes of it is kept, too.
    """

    name: str
    read: Callable[[], SourceFile]
    config: Config = EVERY_RULE
    place: Callable[[], AbstractContextManager[object]] = nullcontext
    project: Callable[[], Project | None] = lambda: None
    is_adopted: bool = True


def pages() -> Iterator[Subject]:
    """Every example of every page that is tested."""
    folders = (HERE / "devicelint" / "rules", HERE / "tests", HERE / "docs")
    found = chain.from_iterable(folder.rglob("*.md") for folder in folders)
    for path in sorted(filter(is_page, found), key=lambda page: (page.name, page)):
        for section in sections(path.read_text(encoding="utf-8")):
            yield from _examples_of(path, section)


def _examples_of(page: Path, section: Section) -> Iterator[Subject]:
    config = config_of(section.settings.content if section.settings else "")
    config = replace(config, extend_select=EVERY_RULE.extend_select)
    files = files_of(section)
    for number, example in enumerate(section.examples):
        code = annotated(example.code.content).code
        yield Subject(
            f"{page.stem}: {section.name} [{number}]",
            lambda code=code, path=example.path: SourceFile.from_text(code, path),  # type: ignore[misc]
            config,
            lambda: folder_with(files),
            lambda: Project() if files else None,
        )


def examples() -> Iterator[Subject]:
    """Every script and notebook of `examples`."""
    found = chain.from_iterable((HERE / "examples").rglob(kind) for kind in ("*.py", "*.ipynb"))
    for path in sorted(found):
        name = path.relative_to(HERE).as_posix()
        yield Subject(name, lambda path=path: read_source(path), project=Project)  # type: ignore[misc]


def listings(folder: Path) -> Iterator[Subject]:
    """Every listing of every article of a folder: Markdown, whatever its name ends in."""
    for path in sorted(folder.iterdir()):
        fences = [
            one for one in elements(path.read_text(encoding="utf-8")) if isinstance(one, Fence)
        ]
        for fence in fences:
            yield Subject(
                f"{path.stem.partition('_')[0]}, line {fence.line}",
                lambda code=fence.content: SourceFile.from_text(code, "listing.py"),  # type: ignore[misc]
            )


def checkouts(folder: Path) -> Iterator[Subject]:
    """Every Python file of every checkout below a folder; each checkout is a project."""
    for checkout in checkouts_below(folder):
        project = Project()
        for path in checkout.files():
            yield Subject(
                f"{checkout.name}/{checkout.relative(path)}",
                lambda path=path: read_source(path),  # type: ignore[misc]
                project=lambda project=project: project,  # type: ignore[misc]
                is_adopted=False,
            )
