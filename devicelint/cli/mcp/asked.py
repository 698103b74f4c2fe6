"""What an agent asks of a tool, as the words of a command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devicelint.cli.mcp.folders import Folders
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN, GivenText, Input


@dataclass(frozen=True)
class ToolRequest:
    """Which files or which text, by which rules, and what to do with it."""

    paths: Sequence[str] = ()
    source: str | None = None
    filename: str = "source.py"
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    certainty: str | None = None
    unsafe_fixes: bool = False
    write: bool = False
    entry: str | None = None

    def words(self, folders: Folders) -> Iterator[str]:
        """Yield the options and paths; raises UsageError where they make no sense together."""
        if bool(self.paths) == (self.source is not None):
            raise UsageError('give either "paths" (files or folders) or "source" (the text)')
        if self.source is not None and self.write:
            raise UsageError('"write" needs "paths": there is no file for the text of "source"')
        yield from self._options()
        if self.entry is not None:
            yield f"--entry={folders.named(self.entry)}"
        if self.source is not None:
            yield f"--stdin-filename={folders.named(self.filename)}"
        yield "--"
        yield from map(folders.named, self.paths) if self.source is None else (STDIN,)

    def _options(self) -> Iterator[str]:
        for option, codes in (("--select", self.select), ("--ignore", self.ignore)):
            if codes:
                yield f"{option}={','.join(codes)}"
        if self.certainty is not None:
            yield f"--certainty={self.certainty}"
        if self.unsafe_fixes:
            yield "--unsafe-fixes"

    def inputs(self, folders: Folders) -> list[Input] | None:
        """Return the text that is given; None where paths name the files."""
        if self.source is None:
            return None
        return [GivenText(folders.named(self.filename), self.source)]
