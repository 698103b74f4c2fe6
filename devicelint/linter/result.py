"""What a check says of one file, and which files it has nothing to say of."""

from __future__ import annotations

from dataclasses import dataclass

from devicelint.finding import Finding
from devicelint.text.noqa import names_rules
from devicelint.text.screen import names_tensors
from devicelint.text.source import SourceFile


@dataclass(frozen=True)
class Met:
    """A name of which the configuration assumes something, met in a file."""

    name: str
    place: str
    """Where that is assumed: `pyproject.toml:12`."""
    known: str = ""
    """Where the name is understood without it, so that it is not used: `train.py:8:5`."""


@dataclass(frozen=True)
class CheckResult:
    """What was found in one file, in the order of the text."""

    source: SourceFile
    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...] = ()
    """What comments suppress."""
    assumed: tuple[Met, ...] = ()
    """What the configuration assumes of names that the file reads."""


def concerns_devices(source: SourceFile) -> bool:
    """Whether there is anything to look for in a file, so that it has to be parsed."""
    return screen(source.text.encode("utf-8", "replace"))


def screen(data: bytes) -> bool:
    """Whether there can be anything to say of a file, of tensors or of rules that it names."""
    return names_tensors(data) or names_rules(data)
