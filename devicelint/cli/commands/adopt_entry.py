"""`devicelint adopt PATH… --entry FILE`: the files of a program, all of them or none."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli.commands.adopt import Adoption
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN, FileInput, Input, Unreadable
from devicelint.linter import lint
from devicelint.linter.fix_files import fix_files
from devicelint.text.parse import parse
from devicelint.workspace.files import replace_files
from devicelint.workspace.project import home_of

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.linter.lint import Fixed
    from devicelint.text.source import SourceFile


class EntryAdoption(Adoption):
    """One run of `devicelint adopt` with an entry: a script that uses what the other files hold."""

    def __init__(self, options: Namespace) -> None:
        """Find the script; raises UsageError."""
        if STDIN in options.paths:
            raise UsageError("--entry names a file among others: give paths")
        if options.interactive:
            raise UsageError("--interactive asks about one file at a time: give it without --entry")
        super().__init__(options)
        self.entry = _entry(options.entry, options.paths)

    def go_through(self, found: Iterable[Input]) -> Iterator[Input]:
        """Change all files that the script imports, or none."""
        entry = FileInput(self.entry)
        source = self.tally.attempt(entry.path, partial(self._followed, entry))
        if source is None:
            return
        sources: dict[Input, SourceFile] = {entry: source}
        for each in self._reached(source, found):
            other = self.tally.attempt(each.path, partial(_read, each))
            if other is not None:
                sources[each] = other
        self._adopt(sources)
        yield entry

    def _followed(self, entry: Input) -> SourceFile:
        """The script, once all its imports are resolved."""
        source = _read(entry)
        lint.check(source, self.config_of(entry), self.project)
        return source

    def _reached(self, source: SourceFile, found: Iterable[Input]) -> list[Input]:
        """The files that the script imports, the closest first."""
        places: dict[str, Input] = {}
        for each in found:
            if isinstance(each, Unreadable):
                self.tally.attempt(each.path, each.source)
            places[os.path.abspath(each.path)] = each
        reached = self.project.imported_from(source)
        return [places[home] for home in reached if home in places and home != home_of(source)]

    def close(self) -> None:
        """Say how much was changed, where anything could be."""
        if self.tally.files:
            super().close()

    def _adopt(self, sources: dict[Input, SourceFile]) -> None:
        entry, *others = sources
        configs = {each.path: self.config_of(each) for each in others}
        configs[entry.path] = self.config_for(self.config_of(entry))
        adopted = self.tally.attempt(entry.path, lambda: self._adopted(sources, configs))
        for each, fixed in zip(sources, adopted or (), strict=False):
            self.report_change(fixed)
            self.show_fixed(each, fixed)

    def _adopted(
        self, sources: dict[Input, SourceFile], configs: dict[str, Config]
    ) -> tuple[Fixed, ...]:
        fixed = fix_files(list(sources.values()), configs.__getitem__, self.project, has_entry=True)
        changed = [
            (each.place, one.after.to_bytes())
            for each, one in zip(sources, fixed, strict=True)
            if one.after.text != one.before.text
        ]
        if self.writes and changed:
            replace_files(changed)
        return fixed


def _read(each: Input) -> SourceFile:
    source = each.source()
    for part in source.programs():
        parse(part)
    return source


def _entry(named: str, paths: list[str]) -> Path:
    """The script, as it is called from here or from one of the folders that were given."""
    places = [Path(named), *(Path(path) / named for path in paths)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise UsageError(f"--entry: there is no {named} here, nor in {' or '.join(paths)}")
    return found
