"""What has become of files since a revision of their git repository."""

from __future__ import annotations

import io
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from devicelint.text.selectors import hint

_OF_ONE_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""The environment that git sets for its hooks, and what would send us to another repository."""
_HUNK = re.compile(r"^@@ -\S+ \+(?P<first>\d+)(?:,(?P<count>\d+))? @@", re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\r")


class GitError(Exception):
    """git gives no answer; the message says why, in one line."""


@dataclass(frozen=True)
class Revision:
    """What a repository held where its history parted from that of a revision."""

    top: Path
    commit: str

    @classmethod
    def of(cls, folder: Path, name: str) -> Revision:
        """Look a revision up in the repository of a folder; raises GitError."""
        top = Path(_answer(folder, "rev-parse", "--show-toplevel"))
        found = _git(
            top, "rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"
        )
        if found.returncode:
            raise GitError(f'there is no revision "{name}" in {top}{_advice(top, name)}')
        commit = _decoded(found.stdout)
        if _git(top, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
            return cls(top, commit)
        base = _git(top, "merge-base", commit, "HEAD")
        if base.returncode:
            raise GitError(f'"{name}" has no history in common with HEAD in {top}{_advice(top)}')
        return cls(top, _decoded(base.stdout).split("\n")[0])

    def name_of(self, path: str | Path) -> str | None:
        """What the repository calls a file; None for one that is not in its folder."""
        real = Path(os.path.realpath(path))
        top = Path(os.path.realpath(self.top))
        return real.relative_to(top).as_posix() if real.is_relative_to(top) else None

    @cached_property
    def changed(self) -> dict[str, str | None]:
        """Each file that is not what it was, with its name then: None for one that is new."""
        options = ("--name-status", "-z", "-M", "--no-ext-diff", "--ignore-submodules")
        output = _git(self.top, "diff", *options, self.commit, "--")
        changed = dict(_statuses(iter(_fields(output))))
        untracked = _git(self.top, "ls-files", "--others", "--exclude-standard", "-z")
        return changed | dict.fromkeys(_fields(untracked))

    def content(self, name: str) -> bytes | None:
        """What a file held; None where there was none."""
        return next(self.contents([name]), None)

    def contents(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """What files held, one after the other; None where there was none."""
        lines = (name.replace("\n", "\0") for name in names)  # git has no name for such files.
        wanted = b"".join(os.fsencode(f"{self.commit}:{line}\n") for line in lines)
        found = _git(self.top, "cat-file", "--batch", given=wanted)
        answer = io.BytesIO(found.stdout)
        while head := answer.readline():
            if head.endswith(b" missing\n"):
                yield None
                continue
            *_, kind, size = head.split()
            held = answer.read(int(size))
            answer.read(1)  # The end of the line.
            yield held if kind == b"blob" else None


def changed_lines(before: str, after: str) -> frozenset[int]:
    """The lines of a text that another has not, apart from how they are indented."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="devicelint-") as folder:
        for name, text in (("before", before), ("after", after)):
            data = _LINE_END.sub("\n", text).encode("utf-8", "surrogatepass")
            Path(folder, name).write_bytes(data)
        options = ("--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--text")
        how = ("-U0", "--inter-hunk-context=0", "--ignore-all-space", "--histogram")
        found = _git(Path(folder), "diff", *options, *how, "--", "before", "after")
    hunks = _HUNK.finditer(found.stdout.decode("utf-8", "replace"))
    return frozenset(
        line
        for hunk in hunks
        for line in range(int(hunk["first"]), int(hunk["first"]) + int(hunk["count"] or 1))
    )


def _statuses(fields: Iterator[str]) -> Iterator[tuple[str, str | None]]:
    for status in fields:
        name = next(fields)
        if status[0] in "RC":
            yield next(fields), name
        elif status[0] != "D":
            yield name, None if status[0] == "A" else name


def _fields(output: subprocess.CompletedProcess[bytes]) -> list[str]:
    if output.returncode:
        raise GitError(_reason(output))
    return [os.fsdecode(field) for field in output.stdout.split(b"\0") if field]


def _answer(folder: Path, *words: str) -> str:
    found = _git(folder, *words)
    if found.returncode:
        raise GitError(_reason(found, folder))
    return _decoded(found.stdout)


def _reason(failed: subprocess.CompletedProcess[bytes], folder: Path | None = None) -> str:
    output = _decoded(failed.stderr)
    if folder is not None and "not a git repository" in output:
        return f"{os.path.abspath(folder)} is in no git repository"
    return "git says: " + " ".join(output.split())


def _advice(top: Path, name: str | None = None) -> str:
    """How to come by a revision that is not there."""
    if _git(top, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true":
        return (
            "; the clone is shallow: fetch more of its history, in GitHub Actions by fetch-depth: 0"
        )
    if name is None:
        return ""
    references = _git(top, "for-each-ref", "--format=%(refname:short)")
    return hint(name, _decoded(references.stdout).split("\n"))


def _git(folder: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {k: v for k, v in os.environ.items() if k not in _OF_ONE_REPOSITORY}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    command: Sequence[str] = ("git", "-C", str(folder), *words)
    try:
        return subprocess.run(
            command, input=given, capture_output=True, check=False, env=environment
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror or error}") from None


def _decoded(output: bytes) -> str:
    return os.fsdecode(output).rstrip("\r\n")
