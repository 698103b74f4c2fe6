"""Runs mutants in the scripts of a repository."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.corpora.outcomes import ScriptOutcome
from benchmarks.corpora.running import NOTHING, Extras, Workplace, run_script
from benchmarks.corpora.subjects import Script, Subject, Variables
from benchmarks.mutants.benches import BenchError, Failure, Place, first_line
from benchmarks.mutants.connection import CHILD
from benchmarks.mutants.mutant import Mutant, marked_files
from benchmarks.mutants.script_session import ScriptSession, can_be_forked, script_session

ENTRY = re.compile(r'\s+File "(.+)", line (\d+)')
"""The line of a printed traceback that names a place."""

MOST_SCRIPTS = 2
"""So many scripts that reach its place decide on a mutant: the quickest."""

LIMIT = 300.0


class ScriptBench:
    """The scripts of a repository, each run in a process and a copy of its own."""

    def __init__(self, place: Workplace, subject: Subject, tree: Path) -> None:
        self.tree = tree
        self.reached: dict[int, tuple[str, ...]] = {}
        self.faults: dict[str, str] = {}
        self._place = place
        self._subject = subject
        self._open = ExitStack()
        self._sessions: dict[tuple[int, Variables], ScriptSession] = {}
        self._scripts = {script.name: script for script in subject.scripts}

    def __enter__(self) -> ScriptBench:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def look(self, mutants: Sequence[Mutant], notes: Path) -> None:
        """Find out which scripts reach the place of each mutant; `notes` keeps that.

        Raises:
            BenchError: no script runs to its end.
        """
        if notes.exists():
            pairs, self.faults = json.loads(notes.read_text(encoding="utf-8"))
            self.reached = {int(index): tuple(scripts) for index, scripts in pairs}
            return
        texts = {file: text for file, _, text in marked_files(mutants)}
        found: dict[int, list[tuple[float, str]]] = {}
        for script in self._scripts.values():
            made, outcome = self._marked(script, texts)
            if outcome.is_well:
                for index in made:
                    found.setdefault(index, []).append((outcome.seconds, script.name))
            else:
                self.faults[script.name] = first_line(outcome.fault)
        if len(self.faults) == len(self._scripts):
            fault = next(iter(self.faults.values()))
            raise BenchError(f"{self._subject.name}: no script runs to its end: {fault}")
        for index, pairs in found.items():
            self.reached[index] = tuple(name for _, name in sorted(pairs)[:MOST_SCRIPTS])
        notes.parent.mkdir(parents=True, exist_ok=True)
        notes.write_text(json.dumps([list(self.reached.items()), self.faults]), encoding="utf-8")

    def _marked(self, script: Script, texts: Mapping[str, str]) -> tuple[set[int], ScriptOutcome]:
        """The places that a script reaches; none where it does not run with them marked."""
        folder = self._place.root / "made" / self._subject.folder_name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        extras = Extras(("mutants_made",), (CHILD,), {"MUTANTS_MADE": str(folder)})
        outcome = self._run(script, texts, extras)
        return {int(path.name) for path in folder.iterdir()}, outcome

    def tests_that_reach(self, index: int) -> tuple[str, ...]:
        """The scripts that come to the place of a mutant, and run to their end on GPUs."""
        return self.reached.get(index, ())

    def run(self, texts: Mapping[str, str], tests: Sequence[str]) -> tuple[Failure, ...]:
        """Run some scripts, with other texts for files; what fails."""
        found = []
        for name in tests:
            outcome = self._run(self._scripts[name], texts)
            if outcome.device_error or outcome.status != 0:
                told = first_line(outcome.device_error or outcome.fault)
                places = tuple(_places(outcome))
                found.append(Failure(name, told, bool(outcome.device_error), places))
        return tuple(found)

    def is_steady(self, test: str) -> bool:
        """Whether a script runs to its end as it is: that is where it was seen to reach places."""
        return test not in self.faults

    def _run(
        self, script: Script, texts: Mapping[str, str], extras: Extras = NOTHING
    ) -> ScriptOutcome:
        tree = self._tree(texts)
        if not can_be_forked(script):
            return run_script(self._place, self._subject, script, tree, extras=extras, limit=LIMIT)
        machine = (script.gpus, script.variables)
        if machine not in self._sessions:
            session = script_session(self._place, self._subject, script)
            self._sessions[machine] = self._open.enter_context(session)
        return self._sessions[machine].run(script, tree, extras, limit=LIMIT)

    def _tree(self, texts: Mapping[str, str]) -> Path:
        tree = self._place.lay_out(self._subject, f"{self._subject.folder_name}-run").resolve()
        for file, text in texts.items():
            (tree / file).write_bytes(text.encode())
        return tree


def _places(outcome: ScriptOutcome) -> Iterator[Place]:
    """The lines of the copy that the printed tracebacks name."""
    for line in outcome.said.splitlines():
        entry = ENTRY.search(line)
        if entry is None:
            continue
        file = os.path.realpath(entry[1])
        if file.startswith(f"{outcome.tree}{os.sep}"):
            yield os.path.relpath(file, outcome.tree), int(entry[2])
