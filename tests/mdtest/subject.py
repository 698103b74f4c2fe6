"""The real analyser: the only module of the harness that knows devicelint."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from devicelint.config import Config, ConfigError, load_config
from devicelint.finding import Finding, InputError
from devicelint.linter import lint
from devicelint.linter.fix_files import fix_files
from devicelint.output.formats import concise
from devicelint.output.formats.text import render
from devicelint.rules import all_rules
from devicelint.rules.accelerator_required import AcceleratorRequired
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project
from tests.mdtest.analyser import BadSettings, NotChecked, Observation
from tests.mdtest.page import Files
from tests.mdtest.scripts import folder_with

REVEALED = "DEV000"
_HEADER = "[tool.devicelint]\n"
_TABLE = re.compile(r"^\[(?!\[)", re.MULTILINE)


class Devicelint:
    """Checks, fixes and reports as the command line does."""

    def __init__(self) -> None:
        self._project: Project | None = None

    @contextmanager
    def among(self, files: Files) -> Iterator[None]:
        with folder_with(files):
            self._project = Project() if files else None
            yield
            self._project = None

    def rules(self) -> frozenset[str]:
        return frozenset(name for rule in all_rules() for name in (rule.code, rule.name))

    def check(self, code: str, path: str, settings: str) -> tuple[Observation, ...]:
        source = SourceFile.from_text(code, path)
        with _refusals():
            checked = _checked(source, settings, self._project)
        return tuple(_observation(finding, source) for finding in checked.findings)

    def fix(self, code: str, path: str, settings: str, *, unsafe: bool) -> str:
        config = replace(config_of(settings), unsafe_fixes=unsafe)
        with _refusals():
            return lint.fix(SourceFile.from_text(code, path), config, self._project).after.text

    def adopt(self, code: str, path: str, settings: str) -> tuple[str, str]:
        with _refusals():
            source = SourceFile.from_text(code, path)
            adopted = lint.adopt(source, config_of(settings), self._project)
        return adopted.after.text, _left(adopted)

    def adopt_all(self, files: Files, settings: str) -> tuple[tuple[str, str], ...]:
        sources = [SourceFile.from_text(code, path) for path, code in files]
        config = config_of(settings)
        configs = {source.path: config for source in sources}
        configs[sources[0].path] = config.for_adoption()
        with _refusals():
            adopted = fix_files(
                sources, configs.__getitem__, self._project or Project(), has_entry=True
            )
        return tuple((one.after.text, _left(one)) for one in adopted)

    def report(self, code: str, path: str, settings: str) -> str:
        with _refusals():
            source = SourceFile.from_text(code, path)
            return render(_checked(source, settings, self._project))


def _checked(source: SourceFile, settings: str, project: Project | None) -> lint.CheckResult:
    """What is said of a file; that it is for accelerators alone only where the section asks.

    Most examples are such programs: they show one move, and no choice of a device.
    """
    checked = lint.check(source, config_of(settings), project)
    if AcceleratorRequired.code in settings or AcceleratorRequired.name in settings:
        return checked
    kept = (one for one in checked.findings if not one.is_of_program)
    return replace(checked, findings=tuple(kept))


def _left(adopted: lint.Fixed) -> str:
    return concise.render(lint.CheckResult(adopted.after, adopted.remaining))


def _observation(finding: Finding, source: SourceFile) -> Observation:
    position = source.position(finding.span.start)
    return Observation(
        line=position.line,
        column=position.column + 1,
        kind="revealed" if finding.code == REVEALED else finding.severity.value,
        code=finding.code,
        rule=finding.name,
        message=finding.message,
        fix=None if finding.fix is None else finding.fix.safety.value,
    )


@lru_cache
def config_of(settings: str) -> Config:
    """What `settings`, the contents of `[tool.devicelint]`, would mean in a pyproject.toml."""
    if not settings.strip():
        return Config()
    table = _TABLE.sub("[tool.devicelint.", settings)
    known = {rule.code: rule.name for rule in all_rules()}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pyproject.toml")
        file.write_text(_HEADER + table, encoding="utf-8")
        try:
            return replace(load_config(file, file.parent, known), root=None)
        except ConfigError as error:
            raise BadSettings(error.message, error.line - _HEADER.count("\n")) from error


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise NotChecked(error.message, error.line) from error
