"""Which batches were read, of what, by which devicelint: each once."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.halves import known_repositories
from benchmarks.readings.checking import Read
from benchmarks.readings.verdicts import ReadingError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Published:
    """The figures of readings made before there was a ledger: known code, for comparison.

    Attributes:
        name: what was read.
        devicelint: the commit that was read.
        repositories: how many.
        lines: how many.
        right: findings.
        debatable: findings.
        wrong: findings.
        seen: mistakes that a reader saw by himself, where somebody looked for them.
        found: how many of those devicelint found.
    """

    name: str
    devicelint: str
    repositories: int
    lines: int
    right: int
    debatable: int
    wrong: int
    seen: int = 0
    found: int = 0


@dataclass(frozen=True)
class Skipped:
    """A repository whose turn it was, and why it was not read."""

    repo: str
    reason: str


@dataclass(frozen=True)
class Batch:
    """One batch of repositories, as it was checked.

    Attributes:
        number: the batch, from 1.
        date: the day on which it was checked, as `YYYY-MM-DD`.
        devicelint: the last commit that changed the analyser then.
        findings: how many there were to read.
        repositories: what was checked.
        skipped: what was not, though its turn had come.
        vendored: the folders, as `OWNER/NAME/FOLDER`, that are copies of other projects.
    """

    number: int
    date: str
    devicelint: str
    findings: int
    repositories: tuple[Read, ...]
    skipped: tuple[Skipped, ...] = ()
    vendored: tuple[str, ...] = ()

    @property
    def lines(self) -> int:
        """How many lines were checked."""
        return sum(each.lines for each in self.repositories)

    @property
    def commits(self) -> dict[str, str]:
        """The commit of each repository."""
        return {each.repo: each.commit for each in self.repositories}


@dataclass(frozen=True)
class Ledger:
    """All that was read, and the folder with the verdicts."""

    published: tuple[Published, ...]
    batches: tuple[Batch, ...]
    folder: Path

    def verdicts_of(self, number: int) -> Path:
        """Where the verdicts on a batch lie."""
        return self.folder / f"batch_{number}.jsonl"

    def seen_of(self, number: int) -> Path:
        """Where it lies what readers of a batch saw by themselves."""
        return self.folder / f"seen_{number}.jsonl"

    def refuse_again(self, number: int, repositories: Iterable[str]) -> None:
        """Refuse to measure what was measured or looked into before.

        Raises:
            ReadingError: the batch, or a repository, was.
        """
        for batch in self.batches:
            if batch.number == number:
                raise ReadingError(
                    f"batch {number} was measured on {batch.date}, with devicelint"
                    f" {batch.devicelint[:8]}; a batch is never measured twice"
                )
        read = {name: f"batch {each.number}" for each in self.batches for name in each.commits}
        read = {name.lower(): where for name, where in read.items()}
        for name in repositories:
            where = read.get(name.lower())
            if where is None and name.lower() in known_repositories():
                where = "the known repositories"
            if where is not None:
                raise ReadingError(f"{name} was read before, in {where}: it measures nothing")


def read_ledger(folder: Path = FOLDER) -> Ledger:
    """The ledger of a folder.

    Raises:
        ReadingError: it is no such table.
    """
    path = folder / "ledger.toml"
    table = _table(path)
    try:
        published = tuple(Published(**each) for each in table.get("published", []))
        batches = tuple(map(_batch, table.get("batch", [])))
    except (KeyError, TypeError) as error:
        raise ReadingError(f"{path.name}: {error}") from error
    return Ledger(published, batches, folder)


def read_batch(path: Path) -> Batch:
    """The batch whose entry lies beside its findings.

    Raises:
        ReadingError: there is none.
    """
    try:
        return _batch(_table(path)["batch"][0])
    except (KeyError, IndexError, TypeError) as error:
        raise ReadingError(f"{path.name}: {error}") from error


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ReadingError(f"{path}: {error}") from error


def _batch(entry: dict[str, Any]) -> Batch:
    repositories = tuple(
        Read(**each | {"troubles": tuple(each.get("troubles", ()))}) for each in entry["repository"]
    )
    skipped = tuple(Skipped(**each) for each in entry.get("skipped", ()))
    own = {name: entry[name] for name in ("number", "date", "devicelint", "findings")}
    return Batch(
        **own, repositories=repositories, skipped=skipped, vendored=tuple(entry["vendored"])
    )


def as_toml(batch: Batch) -> str:
    """A batch as the ledger holds it."""
    return "\n".join(_lines_of(batch)) + "\n"


def _lines_of(batch: Batch) -> Iterator[str]:
    yield "[[batch]]"
    yield f"number = {batch.number}"
    yield f"date = {_quoted(batch.date)}"
    yield f"devicelint = {_quoted(batch.devicelint)}"
    yield f"findings = {batch.findings}"
    yield f"vendored = {_listed(batch.vendored)}"
    for each in batch.skipped:
        yield from ("", "[[batch.skipped]]")
        yield f"repo = {_quoted(each.repo)}"
        yield f"reason = {_quoted(each.reason)}"
    for read in batch.repositories:
        yield from ("", "[[batch.repository]]")
        yield f"repo = {_quoted(read.repo)}"
        yield f"commit = {_quoted(read.commit)}"
        yield f"files = {read.files}"
        yield f"notebooks = {read.notebooks}"
        yield f"lines = {read.lines}"
        if read.troubles:
            yield f"troubles = {_listed(read.troubles)}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(texts: Sequence[str]) -> str:
    return "[" + "".join(f"\n    {_quoted(text)}," for text in texts) + ("\n]" if texts else "]")
