"""The pytest side: pages are files, sections are items, `--update` rewrites generated blocks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tests.mdtest.analyser import Analyser
from tests.mdtest.markdown import Fence
from tests.mdtest.page import Section, sections
from tests.mdtest.runner import Complaint, complaints
from tests.mdtest.update import update

Replacements = dict[Path, list[tuple[Fence, str]]]
_FOLDERS = (
    "/devicelint/rules/",
    "/docs/frameworks/",
    "/tests/interpreter/",
    "/tests/fixes/adoption/",
)
_GUIDES = tuple(
    f"/docs/{name}.md" for name in ("adopt", "assume", "configuration", "cuda_in_ci", "errors")
)
_REPLACEMENTS = pytest.StashKey[Replacements]()


@lru_cache(maxsize=1)
def analyser() -> Analyser:
    """The analyser that pages are held against."""
    from tests.mdtest.subject import Devicelint

    return Devicelint()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update` and `--static`."""
    group = parser.getgroup("mdtest")
    group.addoption(
        "--static",
        action="store_true",
        help="check the blocks of pages, and execute none of them",
    )
    group.addoption(
        "--update",
        action="store_true",
        help="rewrite the `diff` and `text` blocks of pages from what devicelint does",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin with nothing to rewrite."""
    config.stash[_REPLACEMENTS] = {}


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> MarkdownPage | None:
    """Collect the rules' pages, and those among the tests."""
    if not is_page(file_path):
        return None
    page: MarkdownPage = MarkdownPage.from_parent(parent, path=file_path)
    return page


def is_page(path: Path) -> bool:
    """Whether it is a rule's page, one among the tests, or a guide that is tested."""
    place = path.as_posix()
    return path.suffix == ".md" and (
        f"/{place}".endswith(_GUIDES) or any(folder in f"/{place}" for folder in _FOLDERS)
    )


class MarkdownPage(pytest.File):
    """A page; its sections with examples are its items."""

    def collect(self) -> Iterator[SectionItem]:
        """One item for each section that claims something, or that cannot be read."""
        for section in sections(self.path.read_text(encoding="utf-8")):
            if section.examples or section.problems:
                item: SectionItem = SectionItem.from_parent(
                    self, name=section.name.replace("::", ":"), section=section
                )
                yield item


class SectionFailed(Exception):
    """A section does not hold; the message is the whole story."""


class SectionItem(pytest.Item):
    """One section of a page."""

    def __init__(self, *, name: str, parent: MarkdownPage, section: Section) -> None:
        super().__init__(name, parent)
        self.section = section

    def runtest(self) -> None:
        """Run the section; with `--update`, generated blocks are rewritten instead of failing."""
        executes = not self.config.getoption("static")
        found = list(complaints(self.section, analyser(), executes=executes))
        if self.config.getoption("update"):
            pages = self.config.stash[_REPLACEMENTS]
            replacements = [one.replacement for one in found if one.replacement is not None]
            pages.setdefault(self.path, []).extend(replacements)
            found = [one for one in found if one.replacement is None]
        if found:
            page = self.path.relative_to(self.config.rootpath)
            raise SectionFailed("\n\n".join(shown(page, complaint) for complaint in found))

    def repr_failure(  # type: ignore[override]  # pytest's own return type is private
        self, excinfo: pytest.ExceptionInfo[BaseException], style: str | None = None
    ) -> object:
        """The story alone for a section that failed, a traceback for a defect of the analyser."""
        if isinstance(excinfo.value, SectionFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the section's heading stands."""
        return self.path, self.section.line - 1, self.name


def shown(page: Path, complaint: Complaint) -> str:
    """The complaint as printed: the page's line, expected and actual, and the code."""
    parts = {"expected": complaint.expected, "actual": complaint.actual, "code": complaint.code}
    lines = [f"{page.as_posix()}:{complaint.line}:"]
    for label, text in parts.items():
        if "\n" in text.rstrip("\n"):
            lines += [f"  {label}:", textwrap.indent(text.rstrip("\n"), "    ")]
        elif text:
            lines.append(f"  {label + ':':<10}{text.strip()}")
    return "\n".join(lines)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what `--update` gathered."""
    for page, replacements in session.config.stash[_REPLACEMENTS].items():
        if replacements:
            update(page, replacements)
