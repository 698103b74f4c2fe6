"""The command `check`: read files, ask the engine, print what it says, write what it fixes."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from devicelint import __version__
from devicelint.cli import terminal
from devicelint.cli.options.contradictions import refuse_contradictions
from devicelint.cli.options.parser import check_parser
from devicelint.cli.run.checking import Checking
from devicelint.cli.run.existing import ExistingFindings
from devicelint.cli.run.inputs import FileInput, Input, StandardInput, inputs
from devicelint.cli.run.output import Output
from devicelint.cli.run.progress import Progress, is_wanted
from devicelint.cli.run.settings import RunSettings
from devicelint.cli.run.tally import Tally
from devicelint.linter.garbage import collect_between
from devicelint.linter.result import CheckResult
from devicelint.output import summary

if TYPE_CHECKING:
    from devicelint.cli.run.other_files import OtherFiles
    from devicelint.config import Config
    from devicelint.fixes import Approval
    from devicelint.linter.lint import Fixed
    from devicelint.text.source import SourceFile
    from devicelint.workspace.project import Project


def run(_command: str, words: Sequence[str]) -> int:
    """Run `devicelint [check]` with these arguments and return the exit status."""
    options = check_parser().parse(words)
    if options.version:
        sys.stdout.write(f"devicelint {__version__}\n")
        return 0
    refuse_contradictions(options)
    if options.show_settings:
        from devicelint.cli.commands import config

        return config.show((options.paths or ["."])[0], RunSettings(options))
    if options.show_files:
        from devicelint.cli.run import listing

        return listing.run(options)
    if options.profile or options.watch:
        from devicelint.cli.run import repeats

        return repeats.run(options)
    return Check(options).run()


def is_clean(fixed: Fixed) -> bool:
    """Whether nothing was found in a file, so that there was nothing to fix."""
    outcomes = (fixed.applied, fixed.rolled_back, fixed.remaining, fixed.suppressed)
    return fixed.after.text == fixed.before.text and not any(outcomes)


class Check:
    """One run of `devicelint check`."""

    def __init__(self, options: Namespace, output: Output | None = None) -> None:
        """Read the settings that the options name; `output` takes the place of the terminal."""
        self.options = options
        self.settings = RunSettings(options)
        self.existing_findings = ExistingFindings(options)
        self.output = output or Output(options)
        self.tally = Tally(on_problem=self.output.show_problem)
        self.checking = Checking(options, lambda each: self.config_for(self.config_of(each)))
        self.unsafe_fixes = False
        """Whether --fix would make unsafe fixes too, in any of the files."""
        self._configs: dict[str, Config] = {}
        """By folder."""
        self.is_holding = False
        """Whether imports see texts that are not written."""
        self.approves = self._asking()
        self.fixed_files: list[Fixed] = []
        """What is to be proven."""
        self.progress = Progress(self.doing, wanted=output is None and is_wanted(options))

    def _asking(self) -> Approval | None:
        """Whoever is asked about every fix."""
        if not self.options.interactive:
            return None
        from devicelint.cli.run.interactive import Asking

        return Asking()

    def run(self, found: Iterable[Input] | None = None) -> int:
        """Check every file; a file that cannot be checked does not keep the others from it.

        The files are those that the options name, unless they are given.
        """
        if found is None:
            options = self.options
            found = inputs(options.paths, options.stdin_filename, self.settings, self.tally)
        with self.progress.shown():
            try:
                collect_between(self.go_through(found), lambda: self.checking.has_parsed)
            finally:
                self.checking.close()
            if self.options.prove:
                self._prove()
        self.close()
        return self._status()

    def _status(self) -> int:
        """The exit status: 2 for problems, 1 for findings or what counts as such."""
        if self.tally.problems:
            return 2
        if self.tally.unproven or self.existing_findings.has_failed:
            return 1
        if self.options.exit_zero:
            return 0
        return int(
            self.tally.has_findings
            if self.writes
            else bool(self.tally.fixed) or self.existing_findings.would_change
        )

    def go_through(self, found: Iterable[Input]) -> Iterator[Input]:
        """Do one file after the other, and yield each when it is done."""
        for number, each in enumerate(self.checking.in_turn(found)):
            self.progress.at(number, self.checking.files, each.path)
            self._one(each)
            yield each

    def _one(self, each: Input) -> None:
        if self.options.fix or (self.options.diff and not self.existing_findings.is_read_only):
            self._fix(each)
            return
        checked = self.tally.attempt(each.path, lambda: self._checked(each))
        if checked is not None:
            self.tally.count(checked, self.config_of(each))
            self.output.show(checked)
            self._warn_of_unknown_codes(checked.source)

    def _checked(self, each: Input) -> CheckResult:
        return self.existing_findings.filtered(self.checking.checked(each), self.config_of(each))

    @cached_property
    def project(self) -> Project:
        """The files that imports lead to."""
        return self.checking.project

    def _warn_of_unknown_codes(self, source: SourceFile) -> None:
        """A comment that names no rule suppresses nothing: say so, and change nothing else."""
        for word, span in source.suppression_codes():
            if complaint := self.settings.complaint_about(word):
                terminal.say(f"{source.path}:{source.location(span.start)}: {complaint}")

    def _fix(self, each: Input) -> None:
        if not (self.options.prove or self.is_holding) and self._is_known_clean(each):
            return
        fixed = self.tally.attempt(each.path, lambda: self._fixed(each))
        if fixed is None:
            if isinstance(each, StandardInput) and self.writes:
                # An editor replaces its text by what it reads here.
                terminal.write_bytes(each.data)
            return
        self.show_fixed(each, fixed.pop(each))
        for other, outcome in fixed.items():
            if outcome.after.text != outcome.before.text:
                self._show_changed_with_it(other, outcome)

    def _is_known_clean(self, each: Input) -> bool:
        """Whether there is nothing to fix in a file, which is reported then as by a check."""
        clean = self.checking.known_clean(each)
        if clean is None:
            return False
        clean = self.existing_findings.filtered(clean, self.config_of(each))
        self.tally.count(clean, self.config_of(each))
        if not self.options.diff:
            self.output.show(clean)
        return True

    def _show_changed_with_it(self, each: Input, fixed: Fixed) -> None:
        """Report what was fixed in a file out of its turn; all else is reported in its turn."""
        self.tally.count_fixes(fixed)
        outcomes = replace(fixed, rolled_back=(), remaining=(), reasons={}, suppressed=())
        self.output.show_fixed(outcomes, False, self.config_of(each).unsafe_fixes)

    def show_fixed(self, each: Input, fixed: Fixed) -> None:
        """Count what became of a file, and report it."""
        left = self.existing_findings.filtered(
            CheckResult(fixed.after, fixed.remaining), self.config_of(each)
        )
        fixed = replace(fixed, remaining=left.findings)
        self.tally.count(CheckResult(fixed.after, fixed.remaining), self.config_of(each))
        self.tally.count_fixes(fixed)
        self.output.show_fixed(
            fixed,
            isinstance(each, StandardInput) and self.writes,
            self.config_of(each).unsafe_fixes,
        )
        if self.options.prove:
            self.fixed_files.append(fixed)

    def _prove(self) -> None:
        from devicelint.cli.run import proof

        files = self.fixed_files
        scripts = proof.scripts(files, self.options, self.project)
        for script in scripts:
            prove = partial(proof.run, script, files, self.options, self.progress.now)
            proven = self.tally.attempt(script.after.path, prove)
            if proven is not None:
                self.tally.unproven += proven["problems"]
                self.output.show_proof(proven, among_others=len(scripts) > 1)

    def _fixed(self, each: Input) -> dict[Input, Fixed]:
        """What is made of a file, and of those that have to change with it."""
        fixed = {each: self.fix_file(self.other_files.source(each), self.config_of(each))}
        config = self.config_for(self.config_of(each))
        others = [] if self.approves else self.other_files.needed(each, fixed[each], config)
        if others:
            configs = {each: config} | {o: self.config_of(o) for o in others}
            fixed = self.other_files.fixed(configs, self.existing_findings.reported)
        if self.writes:
            on_disk: dict[Input, Fixed] = {
                one: it for one, it in fixed.items() if isinstance(one, FileInput)
            }
            if self.other_files.write(on_disk):
                self.checking.look_again()
        elif others:
            self.other_files.hold(fixed)
            self.is_holding = True
        if not (others or self.is_holding) and is_clean(fixed[each]):
            self.checking.learn_clean(each, fixed[each].before)
        return fixed

    @cached_property
    def other_files(self) -> OtherFiles:
        """The files that a fix of another may change."""
        from devicelint.cli.run.other_files import OtherFiles

        return OtherFiles(self.project, self.options.paths, self.settings)

    def config_for(self, config: Config) -> Config:
        """The configuration by which a file is fixed."""
        return config

    def fix_file(self, source: SourceFile, config: Config) -> Fixed:
        """What is made of one file."""
        from devicelint.linter import lint

        reported = partial(self.existing_findings.reported, config=config)
        return lint.fix(source, config, self.project, self.approves, reported)

    @property
    def doing(self) -> str:
        """What is done to each file, as the progress of a run says it."""
        return "fixing" if self.options.fix or self.options.diff else "checking"

    @property
    def writes(self) -> bool:
        """Whether files are changed where they lie."""
        return not self.options.diff

    def config_of(self, each: Input) -> Config:
        """What holds for one file."""
        folder = os.path.dirname(each.path)
        config = self._configs.get(folder)
        if config is None:
            config = self._configs[folder] = self.settings.config_for(each.place)
            self.unsafe_fixes = self.unsafe_fixes or config.unsafe_fixes
            self.tally.assumption_places |= {one.place: one.key for one in config.assume}
        return config

    def close(self) -> None:
        """Say what is said of all files together."""
        self.output.close(self.tally.found)
        self._sum_up()
        self.tally.attempt("", self.existing_findings.close)

    def _sum_up(self) -> None:
        if self.options.quiet or self.options.write_baseline or self.existing_findings.is_read_only:
            return
        tally = self.tally
        if not tally.files and not tally.problems:
            terminal.say(summary.no_files(self.options.paths))
            return
        for line in tally.idle_assumptions(verbose=self.options.verbose):
            terminal.say(line)
        if self.options.diff or tally.fixed:
            terminal.say(summary.fixed(tally.fixed, tally.fixed_files, would=self.options.diff))
        if self.options.diff or self.output.has_summary:
            return
        if found := summary.found(tally.found, self.unsafe_fixes):
            terminal.say(found)
        elif not tally.problems and not tally.fixed:
            new = self.existing_findings.hides_findings
            terminal.say(summary.nothing(tally.files, tally.passed_over, new=new))
