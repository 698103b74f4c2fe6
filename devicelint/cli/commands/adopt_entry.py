"""`devicelint adopt PATH…` of several files: those of a program together, all of them or none."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli.commands.adopt import Adoption
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN, FileInput, Input, Unreadable
from devicelint.finding import InputError
from devicelint.linter import lint
from devicelint.linter.fix_files import fix_files
from devicelint.text.parse import parse
from devicelint.workspace.files import replace_files
from devicelint.workspace.project import home_of

if TYPE_CHECKING:
    from devicelint.cli.run.output import Output
    from devicelint.config import Config
    from devicelint.linter.lint import Fixed
    from devicelint.text.source import SourceFile


class Together(Adoption):
    """A run in which a script is changed together with the files that it imports."""

    def adopt_together(self, sources: dict[Input, SourceFile]) -> dict[Input, Fixed]:
        """Change the first file, a script, and the others as far as it calls what they hold."""
        entry, *others = sources
        configs = {each.path: self.config_of(each) for each in others}
        configs[entry.path] = self.config_for(self.config_of(entry))
        adopted = self.tally.attempt(entry.path, lambda: self._adopted(sources, configs))
        return dict(zip(sources, adopted or (), strict=False))

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

    def texts_of(self, files: Iterable[Input]) -> dict[Input, SourceFile]:
        """What files hold; those that cannot be parsed are reported, and left out."""
        read = {one: self.tally.attempt(one.path, partial(self.text_of, one)) for one in files}
        return {one: text for one, text in read.items() if text is not None}

    def followed(self, each: Input) -> SourceFile:
        """A file, once all its imports are resolved; raises InputError."""
        source = self.text_of(each)
        lint.check(source, self.config_of(each), self.project)
        return source

    def text_of(self, each: Input) -> SourceFile:
        """What a file holds, or is going to; raises InputError where that cannot be parsed."""
        source = self.other_files.source(each)
        for part in source.programs():
            parse(part)
        return source


class EntryAdoption(Together):
    """One run of `devicelint adopt` with an entry: a script that uses what the other files hold."""

    def __init__(self, options: Namespace, output: Output | None = None) -> None:
        """Find the script; raises UsageError."""
        if STDIN in options.paths:
            raise UsageError("--entry names a file among others: give paths")
        if options.interactive:
            raise UsageError("--interactive asks about one file at a time: give it without --entry")
        super().__init__(options, output)
        self.entry = _entry(options.entry, options.paths)

    def go_through(self, found: Iterable[Input]) -> Iterator[Input]:
        """Change all files that the script imports, or none."""
        entry = FileInput(self.entry)
        self.progress.now(f"adopting {entry.path} and what it imports")
        source = self.tally.attempt(entry.path, partial(self.followed, entry))
        if source is None:
            return
        sources = {entry: source, **self.texts_of(self._reached(source, found))}
        for each, fixed in self.adopt_together(sources).items():
            self.report_change(fixed)
            self.show_fixed(each, fixed)
        yield entry

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


def _entry(named: str, paths: list[str]) -> Path:
    """The script, as it is called from here or from one of the folders that were given."""
    places = [Path(named), *(Path(path) / named for path in paths)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise UsageError(f"--entry: there is no {named} here, nor in {' or '.join(paths)}")
    return found


class ProgramsAdoption(Together):
    """One run of `devicelint adopt` for several files: scripts go with what they import."""

    def go_through(self, found: Iterable[Input]) -> Iterator[Input]:
        """Change each script together with the files that it leads to, and the others by one."""
        inputs = {os.path.abspath(each.path): each for each in found}
        done: set[Input] = set()
        for home, led_to in self._programs(inputs).items():
            self.progress.now(f"adopting {inputs[home].path} and what it imports")
            sources = self.texts_of(inputs[one] for one in (home, *led_to))
            for each, fixed in self.adopt_together(sources).items():
                self._show(each, fixed, is_first=each not in done)
            done.update(sources)
            yield inputs[home]
        yield from super().go_through([each for each in inputs.values() if each not in done])

    def _show(self, each: Input, fixed: Fixed, *, is_first: bool) -> None:
        """Report what became of a file; what several scripts lead to is counted once."""
        if not self.writes:
            self.project.hold(fixed.after)
        if is_first or fixed.after.text != fixed.before.text:
            self.report_change(fixed)
            self.show_fixed(each, fixed)
            self.tally.files -= not is_first

    def _programs(self, inputs: Mapping[str, Input]) -> dict[str, list[str]]:
        """The scripts, and which of the files each leads to, the closest first."""
        led_to: dict[str, list[str]] = {}
        for number, (home, each) in enumerate(inputs.items()):
            self.progress.count("following the imports of", number, len(inputs), each.path)
            led_to[home] = [
                one for one in self._reached_from(each) if one in inputs and one != home
            ]
        imported = {one for those in led_to.values() for one in those}
        return {
            home: those
            for home, those in led_to.items()
            if those and home not in imported and len(those) <= _MOST_TOGETHER
        }

    def _reached_from(self, each: Input) -> Collection[str]:
        """What a file imports; nothing where it cannot be read, which its turn reports."""
        try:
            return self.project.imported_from(self.followed(each))
        except InputError:
            return ()


_MOST_TOGETHER = 30
"""A script that leads to more files than this is adopted by itself."""
