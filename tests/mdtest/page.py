"""A page as sections, and a section as examples: Python with the fix and the report it claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tests.mdtest.markdown import BrokenFence, Element, Fence, Heading, Prose, elements

UNNAMED = "example.py"
"""The path of a block that no `` `name.py`: `` paragraph names."""

Files = tuple[tuple[str, str], ...]
"""The paths of files in a folder of their own, each with its text."""

_FILE_NAME = re.compile(r"^`(?P<name>[^`\s]+\.py)`:$")
_MISTAKEN_LANGUAGES = {
    "python": "py",
    "python3": "py",
    "py3": "py",
    "pycon": "py",
    "pyi": "py",
    "patch": "diff",
    "txt": "text",
    "": "console",
}
ADOPTED = "adopt"
"""The tag of a `diff` block that shows what `devicelint adopt` makes of the code."""
HAS_ENTRY = "adopt led"
"""The tag of one that shows what adoption makes of a file when the executed one leads."""
LEFT = "left"
"""The tag of a `text` block that shows what adoption leaves to the reader."""
_DIFF_TAGS = ("", "safe", "unsafe", ADOPTED, HAS_ENTRY)
_TAGS = "`run`, `before`, `then`, or `ignore` and a reason"


@dataclass(frozen=True)
class Run:
    """How a block is executed."""

    devices: int = 2
    """On how many virtual devices."""
    alone: bool = False
    """Whether it says nothing of other machines."""
    arguments: tuple[str, ...] = ()
    """What `sys.argv` holds besides the file's name."""
    before: str = ""
    """What ran in the same folder before, on a machine with devices."""
    then: str = ""
    """The code of others that uses the block."""
    files: Files = ()
    """What lies in the same folder."""

    @classmethod
    def of(cls, tags: str) -> Run | None:
        """What `run`, `run cpu`, `run 1` and `run --epochs 1` mean; None for any other tag."""
        match tags.split():
            case ["run", "cpu", *arguments]:
                return cls(0, arguments=tuple(arguments))
            case ["run", number, *arguments] if number.isdigit():
                return cls(int(number), alone=True, arguments=tuple(arguments))
            case ["run", *arguments]:
                return cls(arguments=tuple(arguments))
            case _:
                return None


@dataclass(frozen=True)
class Problem:
    """A line of a page that the harness refuses to read, and why."""

    line: int
    message: str


@dataclass(frozen=True)
class Example:
    """A `py` block, and the `diff` and `text` blocks that speak of it."""

    code: Fence
    path: str = UNNAMED
    before: tuple[Fence, ...] = ()
    """What ran before the code on another machine, unseen by the analyser."""
    then: Fence | None = None
    """What runs after the code, just as unseen."""
    diffs: tuple[Fence, ...] = ()
    adoptions: tuple[Fence, ...] = ()
    """The `diff` blocks that show what `adopt` makes of the code."""
    reports: tuple[Fence, ...] = ()
    is_executed: bool = True
    """Whether torch is asked, where it is a `run` block."""

    @property
    def run(self) -> Run | None:
        """How it is executed as well, if at all."""
        return Run.of(self.code.tags)


@dataclass(frozen=True)
class Section:
    """What stands between one heading and the next."""

    headings: tuple[str, ...]
    """The titles that lead here, the page's own first."""
    line: int
    examples: tuple[Example, ...] = ()
    settings: Fence | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        """The path of headings below the page's title."""
        return " / ".join(self.headings[1:] or self.headings) or "(before the first heading)"


def sections(text: str) -> tuple[Section, ...]:
    """The sections of a page in order, those without examples included."""
    path: list[Heading] = []
    before: list[Fence] = []
    current = _SectionReader(headings=(), line=1, before=before)
    readers = [current]
    for element in elements(text):
        if isinstance(element, Heading):
            path = [heading for heading in path if heading.level < element.level] + [element]
            titles = tuple(heading.title for heading in path)
            current = _SectionReader(headings=titles, line=element.line, before=before)
            readers.append(current)
        else:
            current.read(element)
    return tuple(_refuse_repeated_names(reader.finish() for reader in readers))


def _refuse_repeated_names(found: Iterable[Section]) -> Iterator[Section]:
    seen: set[str] = set()
    for section in found:
        repeated = Problem(section.line, "this path of headings appears before on the page")
        problems = (repeated,) if section.name in seen else ()
        seen.add(section.name)
        yield replace(section, problems=(*section.problems, *problems))


@dataclass
class _SectionReader:
    headings: tuple[str, ...]
    line: int
    before: list[Fence]
    """The page's `before` blocks so far, which are for all that follows."""
    examples: list[Example] = field(default_factory=list)
    settings: Fence | None = None
    problems: list[Problem] = field(default_factory=list)
    announced: Prose | None = None
    """The `` `name.py`: `` that waits for its block."""
    ignored: bool = False
    """Whether the last `py` block was an ignored one, whose fix nobody can check."""

    def read(self, element: Element) -> None:
        match element:
            case Prose():
                self._drop_announcement()
                if _FILE_NAME.match(element.text):
                    self.announced = element
            case BrokenFence():
                self._refuse(element.line, element.reason)
            case Fence():
                self._read_fence(element)
            case Heading():
                raise AssertionError("a heading ends its section")

    def finish(self) -> Section:
        self._drop_announcement()
        return Section(
            self.headings, self.line, tuple(self.examples), self.settings, tuple(self.problems)
        )

    def _refuse(self, line: int, message: str) -> None:
        self.problems.append(Problem(line, message))

    def _drop_announcement(self) -> None:
        if self.announced is not None:
            self._refuse(self.announced.line, "names a file, but no `py` block follows")
        self.announced = None

    def _read_fence(self, fence: Fence) -> None:
        if fence.language != "py":
            self._drop_announcement()
        match fence.language:
            case "py":
                self._read_code(fence)
            case "diff" | "text":
                self._attach(fence)
            case "toml":
                self._read_settings(fence)
            case _:
                self._refuse_mistaken_language(fence)

    def _refuse_mistaken_language(self, fence: Fence) -> None:
        intended = _MISTAKEN_LANGUAGES.get(fence.language.lower())
        if intended is not None:
            written = f"`{fence.language}` is not a language here"
            self._refuse(fence.line, f"{written}: write `{intended}`")

    def _read_code(self, fence: Fence) -> None:
        path = self._take_path(fence)
        tag, _, reason = fence.tags.partition(" ")
        self.ignored = tag.rstrip(":") == "ignore"
        if self.ignored:
            if not reason.strip():
                self._refuse(fence.line, "`ignore` needs a reason after it")
        elif fence.tags == "before":
            self.before.append(fence)
        elif fence.tags == "then":
            self._read_use(fence)
        elif not fence.tags or Run.of(fence.tags):
            self.examples.append(Example(fence, path, tuple(self.before)))
        else:
            self._refuse(fence.line, f"unknown tag `{fence.tags}`: {_TAGS}")

    def _read_use(self, fence: Fence) -> None:
        if not self.examples or self.examples[-1].run is None or self.examples[-1].then:
            self._refuse(fence.line, "`then` follows one block that is tagged `run`")
        else:
            self.examples.append(replace(self.examples.pop(), then=fence))

    def _take_path(self, fence: Fence) -> str:
        announced, self.announced = self.announced, None
        name = announced and _FILE_NAME.match(announced.text)
        if not name:
            return UNNAMED
        if any(example.path == name["name"] for example in self.examples):
            self._refuse(fence.line, f"`{name['name']}` is given twice in this section")
        return name["name"]

    def _attach(self, fence: Fence) -> None:
        if self.ignored or not self.examples:
            self._refuse(fence.line, f"this `{fence.language}` block follows no checked `py` block")
            return
        last = self.examples.pop()
        if fence.language == "diff":
            if fence.tags not in _DIFF_TAGS:
                self._refuse(fence.line, f"unknown tag `{fence.tags}`: `safe`, `unsafe` or `adopt`")
            if fence.tags in (ADOPTED, HAS_ENTRY):
                last = replace(last, adoptions=(*last.adoptions, fence))
            else:
                last = replace(last, diffs=(*last.diffs, fence))
        else:
            if fence.tags not in ("", LEFT):
                self._refuse(fence.line, f"unknown tag `{fence.tags}`: `left`, or none")
            last = replace(last, reports=(*last.reports, fence))
        self.examples.append(last)

    def _read_settings(self, fence: Fence) -> None:
        if self.settings is not None:
            self._refuse(fence.line, "a section has one `toml` block")
        self.settings = fence
