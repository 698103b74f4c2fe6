"""The version and the address of the repository, in every file that names them.

Both stand in pyproject.toml, as `project.version` and `[project.urls]`. `make generate` writes them
into the other files. As long as the address is unknown, pages name PLACEHOLDER, and data files
name none.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
OWNER = "OWNER/devicelint"
PLACEHOLDER = f"https://github.com/{OWNER}"
URLS = ("Repository", "Documentation", "Issues", "Changelog")
"""What `[project.urls]` names once the address is known."""


@dataclass(frozen=True)
class Project:
    """What pyproject.toml says of the release."""

    version: str
    urls: Mapping[str, str]

    @classmethod
    def read(cls, root: Path = ROOT) -> Project:
        """Read it from a checkout or an unpacked source distribution."""
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return cls(project["version"], project.get("urls", {}))

    @property
    def repository(self) -> str:
        """Its address, or the placeholder."""
        return self.urls.get("Repository", PLACEHOLDER).rstrip("/")

    @property
    def slug(self) -> str:
        """`OWNER/NAME`, as `uses:` has it."""
        return "/".join(self.repository.split("/")[-2:])


class Place(NamedTuple):
    """A value in the text of a file: the group of the pattern, wherever it matches."""

    path: Path
    pattern: re.Pattern[str]
    value: Callable[[Project], str]

    def within(self, text: str, project: Project) -> str:
        """Return the text with the value of this project."""
        value = self.value(project)
        pieces, end = [], 0
        for match in self.pattern.finditer(text):
            pieces += [text[end : match.start(1)], value]
            end = match.end(1)
        if not pieces:
            raise ValueError(f"{self.path}: nothing here matches {self.pattern.pattern!r}")
        return "".join((*pieces, text[end:]))


class Line(NamedTuple):
    """A line that a file has if the address is known, after the line with the version."""

    path: Path
    start: str
    value: Callable[[Project], str]

    def within(self, text: str, project: Project) -> str:
        """Return the text with the line of this project, or without one."""
        text = re.sub(rf"^{re.escape(self.start)}.*\n", "", text, flags=re.MULTILINE)
        if "Repository" not in project.urls:
            return text
        line = f"{self.start}{self.value(project)}\n"
        after = re.compile(r"^(?:version: |  \"version\": ).*\n", re.MULTILINE)
        return after.sub(lambda found: found[0] + line, text, count=1)


def _places(pattern: str, value: Callable[[Project], str], *paths: str) -> tuple[Place, ...]:
    compiled = re.compile(pattern, re.MULTILINE)
    return tuple(Place(Path(path), compiled, value) for path in paths)


def _repository(project: Project) -> str:
    return project.repository


def _slug(project: Project) -> str:
    return project.slug


def _version(project: Project) -> str:
    return project.version


_NUMBER = r"(\d+(?:\.\d+)+(?:[a-z]+\d+)?)"

VERSIONS = (
    *_places(rf'^__version__ = "{_NUMBER}"', _version, "devicelint/__init__.py"),
    *_places(rf"^version: {_NUMBER}$", _version, "CITATION.cff"),
    *_places(rf'^  "version": "{_NUMBER}"', _version, "editors/vscode/package.json"),
    *_places(
        rf'"name": "devicelint",\s+"version": "{_NUMBER}"',
        _version,
        "editors/vscode/package-lock.json",
    ),
    *_places(rf"devicelint-{_NUMBER}\.vsix", _version, "docs/editors.md"),
    *_places(rf"\brev: v{_NUMBER}", _version, "README.md", "docs/ci.md"),
    *_places(rf"uses: \S+/devicelint@v{_NUMBER}", _version, "docs/ci.md"),
)
"""Where the version stands, besides pyproject.toml."""

ADDRESSES: tuple[Place | Line, ...] = (
    *_places(r"- repo: (https?://\S+)", _repository, "README.md", "docs/ci.md"),
    *_places(r"uses: (\S+/devicelint)@v", _slug, "docs/ci.md"),
    *_places(r"(https?://[^\s()]+)/security/advisories/new", _repository, "SECURITY.md"),
    *_places(
        r"url: (https?://\S+)/(?:security/advisories/new|blob/)",
        _repository,
        ".github/ISSUE_TEMPLATE/config.yml",
    ),
    Line(Path("CITATION.cff"), "repository-code: ", _repository),
    Line(
        Path("editors/vscode/package.json"),
        '  "repository": ',
        lambda project: f'{{ "type": "git", "url": "{project.repository}" }},',
    ),
)
"""Where the address of the repository stands, or will stand."""


def written(root: Path, project: Project) -> Iterator[tuple[Path, str, str]]:
    """Yield each file of a checkout with its text, and the text that it must have."""
    every: tuple[Place | Line, ...] = (*VERSIONS, *ADDRESSES)
    for path in dict.fromkeys(place.path for place in every):
        before = after = (root / path).read_text(encoding="utf-8")
        for place in every:
            if place.path == path:
                after = place.within(after, project)
        yield path, before, after


def missing(project: Project) -> list[str]:
    """Return what `[project.urls]` does not name yet, and what in it cannot be right."""
    absent = [f"[project.urls] has no {name}" for name in URLS if name not in project.urls]
    below = [
        f"[project.urls]: {name} does not begin with the address of the repository"
        for name in ("Issues", "Changelog")
        if name in project.urls and not project.urls[name].startswith(project.repository)
    ]
    return absent + below
