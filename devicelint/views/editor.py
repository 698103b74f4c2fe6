"""One check of a file for an editor: its findings, and where its values are, from the same walk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from devicelint.config import Config
from devicelint.domain.events import (
    Evaluated,
    Event,
    Transfer,
)
from devicelint.domain.worlds import World
from devicelint.finding import Finding, InputError
from devicelint.interpreter import Program, explore
from devicelint.interpreter.engine.attempts import Retractable
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.engine.tracing import AnnouncingRun
from devicelint.linter.collector import Collector, parent_of
from devicelint.linter.filtering import filtered, rules_for
from devicelint.linter.led_to import led_to, with_those_led_to
from devicelint.linter.program import input_errors, program_of
from devicelint.linter.result import CheckResult, screen
from devicelint.linter.walks import findings_of_walk
from devicelint.rules import Rule
from devicelint.text.source import SourceFile
from devicelint.views.abandoned import Abandoned, IsAbandoned
from devicelint.views.editor_notes import NOTED, WalkNotes
from devicelint.views.editor_snapshot import EditorSnapshot
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project


@dataclass(frozen=True)
class OwnAnalysis:
    """What a walk through a file shows by itself, before the programs around are asked."""

    source: SourceFile
    config: Config
    found: tuple[Finding, ...] = ()
    snapshots: tuple[EditorSnapshot, ...] = ()
    walk: FinishedWalk | None = None
    """The one walk, which can be placed again; None of a file that has none, or several."""

    def checked(self, led: Sequence[Finding] = ()) -> CheckResult:
        """What a check shows, with what programs make go wrong in the file."""
        found = with_those_led_to(self.found, led) if led else self.found
        return filtered(self.source, found, self.config, follows_imports=True)

    @property
    def has_programs(self) -> bool:
        """Whether the programs around have something to say of the file.

        They are not walked again for each key: its text has to be that of the disk.
        """
        return bool(self.snapshots) and _is_saved(self.source)

    def led(self, project: Project) -> list[Finding]:
        """What the programs around make go wrong in the file."""
        return led_to(self.source, self.config, project) if self.has_programs else []


def analyse(
    source: SourceFile,
    config: Config,
    project: Project,
    is_abandoned: IsAbandoned = lambda: False,
) -> tuple[CheckResult, tuple[EditorSnapshot, ...]]:
    """The findings of a file, and where its values are, of each of its programs.

    Raises `CheckError` where the file is no Python that libcst can read, and `Abandoned` once
    nobody wants to know any more.
    """
    own = analyse_alone(source, config, project, is_abandoned)
    return own.checked(own.led(project)), own.snapshots


def analyse_alone(
    source: SourceFile, config: Config, project: Project, is_abandoned: IsAbandoned
) -> OwnAnalysis:
    """The same without what the programs around make go wrong in the file."""
    if not _is_walked(source):
        return OwnAnalysis(source, config)
    with input_errors(source):
        rules = rules_for(source, config)
        walks = [_walked(part, config, rules, project, is_abandoned) for part in source.programs()]
        placed = [one.placed(one.source, project) for one in walks]
    found = tuple(one for findings, _ in placed for one in findings)
    walk = walks[0] if source.document is None else None
    return OwnAnalysis(source, config, found, tuple(one for _, one in placed), walk)


def _is_walked(source: SourceFile) -> bool:
    return not source.skipped and screen(source.text.encode("utf-8", "replace"))


def _walked(
    source: SourceFile,
    config: Config,
    rules: tuple[Rule, ...],
    project: Project,
    is_abandoned: IsAbandoned,
) -> FinishedWalk:
    program = program_of(source, project, config)
    analysis = EditorAnalysis(rules, is_abandoned)
    explore(program, analysis.listener_for, AnnouncingRun, analysis.wanted)
    return FinishedWalk(source, config, rules, program, analysis)


@dataclass(frozen=True)
class FinishedWalk:
    """A walk through a file: what it has shown holds for every text of the same code."""

    source: SourceFile
    config: Config
    rules: tuple[Rule, ...]
    program: Program
    analysis: EditorAnalysis

    def placed(self, source: SourceFile, project: Project) -> tuple[list[Finding], EditorSnapshot]:
        """What it has shown, at its places in a text whose tree is that of the walk."""
        program = self.program
        if source.text != program.text:
            program = replace(program, text=source.text, code={})
        collector = self.analysis.collector
        found = findings_of_walk(source, program, collector, self.config, project)[0]
        return found, self.analysis.snapshot(source, program, project.files())

    def holds_for(self, source: SourceFile, config: Config, project: Project) -> bool:
        """Whether a walk through a text of the same code would be this one again."""
        return (
            source.document is None
            and config == self.config
            and _is_walked(source)
            and project.tree(source) is self.program.tree
            and [one.code for one in rules_for(source, config)] == [one.code for one in self.rules]
        )

    def again(self, source: SourceFile, project: Project) -> OwnAnalysis:
        """What a walk through a text of the same code would show."""
        found, snapshot = self.placed(source, project)
        return OwnAnalysis(source, self.config, tuple(found), (snapshot,), self)


def _is_saved(source: SourceFile) -> bool:
    """Whether the text is that of the disk: programs around are not walked again for each key."""
    try:
        return read_source(Path(source.path)).text == source.text
    except InputError:
        return False


class EditorAnalysis:
    """Passes the events of a walk to the rules, and notes where values are."""

    def __init__(self, rules: tuple[Rule, ...], is_abandoned: IsAbandoned) -> None:
        """Listen for some rules, for as long as anybody wants to know."""
        self.collector = Collector(rules)
        self.wanted = self.collector.wanted | {event.__name__ for event in NOTED}
        """The names of the events that matter."""
        self._is_abandoned = is_abandoned
        self._notes: dict[World, WalkNotes] = {}

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; a walk that is given up is forgotten."""
        if self._is_abandoned():
            raise Abandoned
        collect = self.collector.listener_for(world)
        self._notes.pop(parent_of(world) or world, None)
        notes = self._notes[world] = WalkNotes()
        is_abandoned = self._is_abandoned

        def listen(event: Event, run: Run) -> None:
            if isinstance(event, Evaluated):
                notes.read(event, run)
                return
            if is_abandoned():
                raise Abandoned
            if isinstance(event, NOTED):
                notes.note(event, run)
            if not isinstance(event, Transfer) or run.concerns(event):
                collect(event, run)

        return Retractable(listen, collect.kept)

    def snapshot(
        self, source: SourceFile, program: Program, imported: Iterable[Program]
    ) -> EditorSnapshot:
        """What was noted of a file."""
        for notes in self._notes.values():
            notes.end()
        return EditorSnapshot(source, program, tuple(imported), self._notes)
