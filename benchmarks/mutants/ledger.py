"""What became of mutants so far, line by line, so that a long run can go on where it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from benchmarks.mutants.judging import Judged, judged_from


class Ledger:
    """The results of a folder, or of this run alone where there is none."""

    def __init__(self, folder: Path | None) -> None:
        self._file = folder / "results.jsonl" if folder else None
        self._misses = folder / "misses" if folder else None
        self.results: dict[str, Judged] = {each.key: each for each in self._read()}

    def _read(self) -> Iterator[Judged]:
        if self._file is None or not self._file.exists():
            return
        lines = self._file.read_text(encoding="utf-8").splitlines(keepends=True)
        found = map(_parsed, lines)
        yield from (each for each in found if each is not None)
        if lines and not lines[-1].endswith("\n"):
            with self._file.open("a", encoding="utf-8") as file:
                file.write("\n")

    def add(self, results: Iterable[Judged]) -> None:
        """Write down what became of mutants."""
        for each in results:
            self.results[each.key] = each
            if self._file is not None:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                with self._file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(each.as_data()) + "\n")
            if self._misses is not None and is_miss(each):
                self._misses.mkdir(parents=True, exist_ok=True)
                (self._misses / name_of(each)).write_text(miss(each), encoding="utf-8")


def _parsed(line: str) -> Judged | None:
    """What a line says; None where a run was ended while it wrote the line."""
    try:
        return judged_from(json.loads(line))
    except json.JSONDecodeError:
        return None


def is_miss(judged: Judged) -> bool:
    """Whether somebody should look at it."""
    return judged.half == "learn" and judged.fate == "harmful" and not judged.found


def name_of(judged: Judged) -> str:
    """The name of the file that shows a miss."""
    stem = PurePosixPath(judged.file).stem
    subject = judged.subject.replace("/", "+")
    return f"{judged.kind.replace(' ', '-')}-{subject}-{stem}-{judged.line}-{judged.key[:4]}.diff"


def miss(judged: Judged) -> str:
    """A miss as a diff of one line, with what the run and devicelint said before it."""
    before, after = judged.text
    said = [
        f"devicelint: {file}:{line}: {code} {told}" for file, line, code, told in judged.findings
    ]
    return "\n".join(
        [
            f"{judged.subject}: {judged.omitted} is forgotten",
            f"test: {judged.test}",
            f"error: {judged.error}",
            *(said or ["devicelint: nothing new"]),
            f"--- a/{judged.file}",
            f"+++ b/{judged.file}",
            f"@@ -{judged.line},1 +{judged.line},1 @@",
            f"-{before}",
            f"+{after}",
            "",
        ]
    )
