"""One check of a file for an editor: its findings, and where its values are, from the same walk."""

from __future__ import annotations

from collections.abc import Callable

from devicelint.config import Config
from devicelint.finding import Finding
from devicelint.interpreter import explore
from devicelint.interpreter.engine.tracing import TellingRun
from devicelint.linter.filtering import filtered, rules_for
from devicelint.linter.lint import located_findings
from devicelint.linter.program import program_of, told_in_one_line
from devicelint.linter.result import Checked, screen
from devicelint.text.source import SourceFile
from devicelint.views.editor import Studied, Studying
from devicelint.workspace.project import Project


def study(
    source: SourceFile,
    config: Config,
    project: Project,
    is_abandoned: Callable[[], bool] = lambda: False,
) -> tuple[Checked, tuple[Studied, ...]]:
    """The findings of a file, and where its values are, of each of its programs.

    Raises `CheckError` where the file is no Python that libcst can read, and `Abandoned` once
    nobody wants to know any more.
    """
    found: list[Finding] = []
    told: list[Studied] = []
    if not source.skipped and screen(source.text.encode("utf-8", "replace")):
        with told_in_one_line(source):
            rules = rules_for(source, config)
            for part in source.programs():
                program = program_of(part, project, config)
                studying = Studying(rules, is_abandoned)
                explore(program, studying.listener_for, TellingRun, studying.wanted)
                found += located_findings(part, program, studying.gathering, config, project)[0]
                told.append(studying.studied(part, program, project.files()))
    return filtered(source, found, config, follows_imports=True), tuple(told)
