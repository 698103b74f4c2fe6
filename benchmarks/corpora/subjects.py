"""What runs on virtual GPUs for other judges to watch: `subjects.toml`, read and validated.

A subject is a public repository: a package with tests that take a device, scripts that train, or
both.  README.md says what the keys mean and how to add one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.corpora.inputs import is_known
from benchmarks.halves import Half, half_of
from benchmarks.pytorch_examples.runs import RUNS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUBJECTS = Path(__file__).with_name("subjects.toml")

EXAMPLES = "pytorch/examples"
"""Whose scripts are those of `benchmarks/pytorch_examples/runs.toml`."""

Variables = tuple[tuple[str, str], ...]


class SubjectError(Exception):
    """A subject that makes no sense, told in one line."""


@dataclass(frozen=True)
class Deselected:
    """Tests that are not run, and why.

    Attributes:
        tests: the beginning of their ids.
        reason: one word, or a few.
    """

    tests: str
    reason: str


@dataclass(frozen=True)
class Suite:
    """How the tests of a package are run.

    `{device}` in arguments and variables is `cuda` on GPUs and `cpu` elsewhere; `{first}` is
    `cuda:0` and `cpu`.

    Attributes:
        paths: files and folders of tests, below `folder`.
        folder: where pytest is started.
        arguments: what else pytest is given.
        variables: what the tests need in their environment.
        deselected: what is left out.
        ignored: files and folders below `paths` that are not even imported, and why.
        gpus: how many GPUs the machine has.
    """

    paths: tuple[str, ...]
    folder: str = "."
    arguments: tuple[str, ...] = ()
    variables: Variables = ()
    deselected: tuple[Deselected, ...] = ()
    ignored: tuple[Deselected, ...] = ()
    gpus: int = 1


@dataclass(frozen=True)
class Script:
    """One way to run one script.

    Attributes:
        name: how the run is called, within its repository.
        commands: what Python is given, one command after the other. `{port}` is a free port,
            `{device}` as for tests; `torchrun N` starts what follows in N processes.
        folder: where the commands are run.
        inputs: the data that the script wants, as `inputs.py` names it.
        gpus: how many GPUs the machine has.
        variables: what the script needs in its environment.
    """

    name: str
    commands: tuple[str, ...]
    folder: str = "."
    inputs: tuple[str, ...] = ()
    gpus: int = 1
    variables: Variables = ()


@dataclass(frozen=True)
class Subject:
    """A repository at one commit, and how it is run.

    Attributes:
        name: `OWNER/NAME`.
        commit: the full hash.
        sources: files and folders whose code is watched and mutated: the package, or the scripts.
        roots: the folders from which its packages are imported.
        requirements: what pip installs for it, without ever replacing torch.
        bare: what pip installs without what that depends on, since it would bring another torch.
        files: files to write into a copy, such as a version that a build would write.
        tests: its test suite, if it has one that takes a device.
        scripts: its scripts.
    """

    name: str
    commit: str
    sources: tuple[str, ...]
    roots: tuple[str, ...] = (".",)
    requirements: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    files: Variables = ()
    tests: Suite | None = None
    scripts: tuple[Script, ...] = ()

    @property
    def half(self) -> Half:
        """Whether its results are looked into, or only counted."""
        return half_of(self.name)

    @property
    def folder_name(self) -> str:
        """Its name as that of a folder."""
        return self.name.replace("/", "+")


@cache
def subjects() -> tuple[Subject, ...]:
    """All subjects, in the order of their names."""
    return read_subjects(SUBJECTS)


def read_subjects(path: Path) -> tuple[Subject, ...]:
    """The subjects of a file.

    Raises:
        SubjectError: it makes no sense.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("subject", [])
    except tomllib.TOMLDecodeError as error:
        raise SubjectError(f"{path}: {error}") from error
    found = [_subject(table) for table in tables]
    names = [each.name.lower() for each in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SubjectError(f"{twice[0]} is there twice")
    return tuple(sorted(found, key=lambda each: each.name.lower()))


def _subject(table: Mapping[str, Any]) -> Subject:
    name = str(table.get("name", "a subject without a name"))
    inner = {**table, "tests": _suite(table.get("tests"), name)}
    inner["scripts"] = [
        _built(Script, script, f"{name}, script {script.get('name', '')!r}")
        for script in table.get("scripts", [])
    ]
    subject = _built(Subject, inner, name)
    if subject.name == EXAMPLES:
        subject = replace(subject, scripts=_scripts_of_examples())
    _validate(subject)
    return subject


def _suite(table: Mapping[str, Any] | None, name: str) -> Suite | None:
    if table is None:
        return None
    left_out = {
        key: tuple(Deselected(tests, why) for tests, why in table.get(key, {}).items())
        for key in ("deselected", "ignored")
    }
    return _built(Suite, {**table, **left_out}, f"{name}, tests")


def _scripts_of_examples() -> tuple[Script, ...]:
    """Those runs of pytorch/examples that compute on the GPU."""
    return tuple(
        Script(run.name, run.commands, run.folder, run.inputs, run.gpus, run.variables)
        for run in RUNS
        if run.learns_on != "cpu"
    )


T = TypeVar("T", Subject, Suite, Script)


def _built(kind: type[T], table: Mapping[str, Any], where: str) -> T:
    """A dataclass from its table: each key is a field, each list a tuple, each table pairs."""
    known = {field.name: field for field in fields(kind)}
    if strange := sorted(set(table) - set(known)):
        raise SubjectError(f"{where}: there is no key {strange[0]!r}")
    for name, field in known.items():
        if field.default is MISSING and not table.get(name):
            raise SubjectError(f"{where}: {name!r} is missing")
    return kind(**{key: _frozen(value) for key, value in table.items()})


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((key, str(each)) for key, each in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _validate(subject: Subject) -> None:
    name = subject.name
    owner, slash, rest = name.partition("/")
    if not (owner and slash and rest) or "/" in rest:
        raise SubjectError(f"{name}: a name is OWNER/NAME")
    if len(subject.commit) != 40 or set(subject.commit) - set("0123456789abcdef"):
        raise SubjectError(f"{name}: {subject.commit!r} is not the full hash of a commit")
    if subject.tests is None and not subject.scripts:
        raise SubjectError(f"{name}: it has neither tests nor scripts")
    names = [script.name for script in subject.scripts]
    for script in subject.scripts:
        if names.count(script.name) > 1:
            raise SubjectError(f"{name}: two scripts are called {script.name!r}")
        if unknown := [each for each in script.inputs if not is_known(each)]:
            raise SubjectError(f"{name}, script {script.name!r}: nothing makes {unknown[0]!r}")
    for machine in (subject.tests, *subject.scripts):
        if machine is not None and machine.gpus < 1:
            raise SubjectError(f"{name}: a machine has one GPU or more")
    strings: Sequence[str] = (*subject.sources, *subject.roots)
    if absolute := [each for each in strings if each.startswith(("/", ".."))]:
        raise SubjectError(f"{name}: {absolute[0]!r} is not below the repository")
