"""Runs the tests or a script of a subject: on the CPU, on virtual GPUs, or on those there are.

    place = Workplace(Path("scratch"), checkouts, Environment(folder))
    tree = place.lay_out(subject)
    outcome = run_tests(place, subject, tree)

A run takes place in a copy of the checkout, which mutants may edit and where scripts may write. A
recorder comes with `Extras`: its module is imported first in every process of the run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.checkouts import checkouts_below
from benchmarks.corpora.environment import Environment
from benchmarks.corpora.inputs import make
from benchmarks.corpora.outcomes import ScriptOutcome, SuiteOutcome, read_results
from benchmarks.corpora.subjects import EXAMPLES, Script, Subject, SubjectError, Variables
from benchmarks.pytorch_examples.launching import execute, words_of
from benchmarks.pytorch_examples.scratch import BOOT, INHERITED, ROOT
from benchmarks.pytorch_examples.scratch import CHILD as EXAMPLES_CHILD
from runtime_guard.mutation.failures import printed

CHILD = Path(__file__).parent / "child"

LARGEST = 4_000_000
"""Larger files are not copied: data and weights, which no selected test needs."""

MachineKind: TypeAlias = Literal["cpu", "virtual", "cuda"]
"""No GPU; as many virtual ones as the run wants; or the real ones of this machine."""


@dataclass(frozen=True)
class Extras:
    """What a judge adds to a run.

    Attributes:
        modules: imported first in every process of the run, before torch and before pytest.
        path: the folders where they are found.
        variables: what they need in their environment.
        tests: only these tests are run, by their ids; all of the suite where there are none.
    """

    modules: tuple[str, ...] = ()
    path: tuple[Path, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[str, ...] = ()


NOTHING = Extras()


@dataclass(frozen=True)
class Workplace:
    """Where runs take place.

    Attributes:
        root: a folder for all that is written.
        checkouts: the folder of the checkouts, `OWNER+NAME` with `OWNER+NAME.commit` beside it.
        environment: where the requirements are installed.
        machine: the GPUs that runs find.
    """

    root: Path
    checkouts: Path
    environment: Environment
    machine: MachineKind = "virtual"

    def checkout_of(self, subject: Subject) -> Path:
        """The checkout of a subject.

        Raises:
            SubjectError: there is none, or it is at another commit.
        """
        folder = self.checkouts / subject.folder_name
        if not folder.is_dir():
            raise SubjectError(f"{subject.name}: there is no checkout at {folder}")
        checkout = checkouts_below(folder)[0]
        if checkout.commit != subject.commit:
            raise SubjectError(f"{subject.name}: {folder} is at {checkout.commit}")
        return checkout.folder

    def lay_out(self, subject: Subject, name: str = "") -> Path:
        """A new copy of a checkout, in a folder of this name; the subject's own by default."""
        source = self.checkout_of(subject)
        tree = self.root / "trees" / (name or subject.folder_name) / "tree"
        shutil.rmtree(tree.parent, ignore_errors=True)
        shutil.copytree(source, tree, ignore=_uncopied, symlinks=True)
        for file, text in subject.files:
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_text(text, encoding="utf-8")
        return tree


def _uncopied(folder: str, names: list[str]) -> set[str]:
    large = {name for name in names if _size(Path(folder, name)) > LARGEST}
    return large | (set(names) & {".git", "__pycache__"})


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def run_tests(
    place: Workplace,
    subject: Subject,
    tree: Path,
    extras: Extras = NOTHING,
    limit: float = 600.0,
) -> SuiteOutcome:
    """Run the tests of a subject in a copy of its checkout.

    Raises:
        SubjectError: it has none.
    """
    if subject.tests is None:
        raise SubjectError(f"{subject.name} has no tests")
    with _notes(tree) as notes:
        results = notes / "results.jsonl"
        own = {"CORPORA_RESULTS": str(results)}
        environment = _environment(place, subject, tree, extras)
        environment.update(
            own | _filled(subject.tests.variables, place.machine) | dict(extras.variables)
        )
        words = ["-m", "pytest", *_pytest_words(subject, place.machine, extras)]
        began = time.monotonic()
        status, said = execute(
            words, tree / subject.tests.folder, environment, limit, place.environment.python
        )
        seconds = time.monotonic() - began
        return SuiteOutcome(status, tuple(read_results(results)), said, seconds, tree)


def _pytest_words(subject: Subject, machine: MachineKind, extras: Extras) -> Iterator[str]:
    suite = subject.tests
    assert suite is not None
    yield from ("-q", "-p", "no:cacheprovider", "-p", "no:runtime_guard", "-p", "no:randomly")
    yield from ("-p", "runtime_guard.pytest_plugin", "-p", "corpora_results")
    if machine == "virtual":
        yield f"--virtual-gpu={suite.gpus}"
    for each in suite.deselected:
        yield from ("--deselect", each.tests)
    for each in suite.ignored:
        yield f"--ignore={each.tests}"
    yield from (_fill(word, machine) for word in suite.arguments)
    yield from extras.tests or suite.paths


def run_script(
    place: Workplace,
    subject: Subject,
    script: Script,
    tree: Path,
    extras: Extras = NOTHING,
    limit: float = 300.0,
) -> ScriptOutcome:
    """Run a script of a subject in a copy of its checkout, which should be new: data is made there.

    Its commands are run until one fails.
    """
    folder = tree / script.folder
    for name in script.inputs:
        make(name, folder)
    with _notes(tree) as notes:
        environment = _environment(place, subject, tree, extras)
        environment |= _for_scripts(notes, script, place.machine) | dict(extras.variables)
        status: int | None = 0
        told = ""
        began = time.monotonic()
        for command in script.commands:
            words = words_of(_fill(command, place.machine))
            left = limit - (time.monotonic() - began)
            status, said = execute(words, folder, environment, left, place.environment.python)
            told += said
            if status != 0:
                break
        used = sum(int(path.read_text()) for path in notes.glob("*.bytes"))
    failure = printed(told.splitlines())
    error = "" if failure is None else f"{failure.type}: {failure.message}"
    return ScriptOutcome(status, told, error, used, time.monotonic() - began, tree)


def _for_scripts(notes: Path, script: Script, machine: MachineKind) -> dict[str, str]:
    virtual = {"RUNTIME_GUARD": "off", "RUNTIME_GUARD_VIRTUAL_GPU": str(script.gpus)}
    return {
        "CORPORA_USED": str(notes),
        "EXAMPLES_SEED": "20",
        **(virtual if machine == "virtual" else {}),
        **_filled(script.variables, machine),
    }


@contextmanager
def _notes(tree: Path) -> Iterator[Path]:
    """A folder beside the tree for what a run notes of itself."""
    with tempfile.TemporaryDirectory(prefix="notes-", dir=tree.parent) as folder:
        yield Path(folder)


def _environment(place: Workplace, subject: Subject, tree: Path, extras: Extras) -> dict[str, str]:
    """What every process of a run finds: none of this machine's settings of torch or the guard."""
    roots = [tree / root for root in subject.roots]
    children = [BOOT, CHILD, EXAMPLES_CHILD]
    if subject.name == EXAMPLES:
        # What stands for packages that its scripts import and hardly use.
        children.append(EXAMPLES_CHILD / "stubs")
    paths = (*children, *extras.path, *roots, _guard(place))
    return {
        **{name: os.environ[name] for name in INHERITED if name in os.environ},
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "MPLBACKEND": "agg",
        "CORPORA_PLUGINS": " ".join(extras.modules),
        **({} if place.machine == "cuda" else {"CUDA_VISIBLE_DEVICES": ""}),
    }


def _guard(place: Workplace) -> Path:
    """A folder that holds runtime_guard alone: this project has `tests` and `examples`, too."""
    folder = place.root / "guard"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "runtime_guard"
    if not link.is_symlink() or link.readlink() != ROOT / "runtime_guard":
        link.unlink(missing_ok=True)
        link.symlink_to(ROOT / "runtime_guard")
    return folder


def _filled(variables: Variables, machine: MachineKind) -> dict[str, str]:
    return {name: _fill(value, machine) for name, value in variables}


def _fill(text: str, machine: MachineKind) -> str:
    device, first = ("cpu", "cpu") if machine == "cpu" else ("cuda", "cuda:0")
    return text.replace("{device}", device).replace("{first}", first)
