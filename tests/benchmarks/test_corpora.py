"""What runs for other judges is well described, and a toy of it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.corpora.environment import Environment
from benchmarks.corpora.outcomes import ScriptOutcome, TestResult, read_results
from benchmarks.corpora.running import Extras, Workplace, run_script, run_tests
from benchmarks.corpora.subjects import Subject, SubjectError, read_subjects, subjects
from benchmarks.corpora.tables import SuiteRun, lines_of_suites

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COMMIT = "a" * 40
TOY = f"""
[[subject]]
name = "owner/toy"
commit = "{COMMIT}"
sources = ["src/toy"]
roots = ["src"]
files = {{"src/toy/version.py" = "version = 'made'"}}
[subject.tests]
paths = ["tests"]
variables = {{TOY_DEVICE = "{{first}}"}}
[subject.tests.deselected]
"tests/test_toy.py::test_download" = "network"
[[subject.scripts]]
name = "train"
commands = ["train.py --device {{device}}"]
inputs = ["mnist:data"]
"""
FILES = {
    "src/toy/__init__.py": """
import torch
from toy.version import version

def shifted(x):
    return x + torch.ones(3, device=x.device)

def careless(x):
    return x + torch.ones(3)
""",
    "tests/test_toy.py": """
import os
import pytest
import torch
import toy

@pytest.fixture
def x():
    return torch.zeros(3, device=os.environ["TOY_DEVICE"])

def test_shifted(x):
    assert toy.shifted(x).device == x.device

def test_careless(x):
    toy.careless(x)

def test_version():
    assert toy.version == "made"

def test_wrong():
    assert False

def test_download():
    raise OSError
""",
    "train.py": """
import sys
from pathlib import Path
import torch
assert list(Path("data").rglob("train-images-*"))
net = torch.nn.Linear(4, 1).to(sys.argv[2])
net(torch.ones(2, 4, device=sys.argv[2])).sum().backward()
print("seen", sys.modules["watching"].seen)
Path("made.txt").touch()
""",
}
WATCHING = "seen = 'torch' not in __import__('sys').modules\n"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    checkout = tmp_path / "checkouts" / "owner+toy"
    for name, text in FILES.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)
    checkout.with_name("owner+toy.commit").write_text(COMMIT)
    return Workplace(tmp_path / "scratch", checkout.parent, Environment(Path(sys.prefix)))


@pytest.fixture
def toy(tmp_path: Path) -> Subject:
    (subject,) = read(tmp_path, TOY)
    return subject


def read(folder: Path, text: str) -> tuple[Subject, ...]:
    path = folder / "subjects.toml"
    path.write_text(text)
    return read_subjects(path)


def test_what_measures_is_named() -> None:
    measuring = tomllib.loads(Path("benchmarks/measuring.toml").read_text(encoding="utf-8"))
    assert measuring["corpora"]["repositories"] == [
        subject.name for subject in subjects() if subject.half == "measure"
    ]


def test_there_are_enough_of_both_halves() -> None:
    suites = [subject.half for subject in subjects() if subject.tests is not None]
    scripts = [subject.half for subject in subjects() for _ in subject.scripts]
    assert len(suites) >= 14
    assert min(suites.count("learn"), suites.count("measure")) >= 5
    assert len(scripts) >= 40
    assert scripts.count("measure") * 3 >= len(scripts)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("owner/toy", "toy", "a name is OWNER/NAME"),
        (COMMIT, "main", "'main' is not the full hash of a commit"),
        ("roots", "root", "there is no key 'root'"),
        ('sources = ["src/toy"]', "", "'sources' is missing"),
        ('sources = ["src/toy"]', 'sources = ["/src"]', "'/src' is not below the repository"),
        ("mnist:data", "mnits:data", "nothing makes 'mnits:data'"),
        ('paths = ["tests"]', 'paths = ["tests"]\ngpus = 0', "a machine has one GPU or more"),
        ('paths = ["tests"]', "", "owner/toy, tests: 'paths' is missing"),
        ('roots = ["src"]', 'roots = ["src"', "subjects.toml"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(SubjectError) as raised:
        read(tmp_path, TOY.replace(old, new))
    assert told in str(raised.value)


def test_a_subject_is_there_once(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match="owner/toy is there twice"):
        read(tmp_path, TOY + TOY)


def test_a_checkout_is_at_its_commit(place: Workplace, toy: Subject) -> None:
    (place.checkouts / "owner+toy.commit").write_text("b" * 40)
    with pytest.raises(SubjectError, match="is at bbbb"):
        place.lay_out(toy)


def test_tests_run_on_a_virtual_gpu(place: Workplace, toy: Subject) -> None:
    outcome = run_tests(place, toy, place.lay_out(toy))
    assert outcome.fault == ""
    assert {each.test.partition("::")[2]: each.outcome for each in outcome.results} == {
        "test_shifted": "passed",
        "test_careless": "failed",
        "test_version": "passed",
        "test_wrong": "failed",
    }
    (error,) = outcome.device_errors
    assert "same device" in error.told
    assert outcome.on_gpu == 2
    *_, row, totals = lines_of_suites([SuiteRun(toy, None, outcome)])
    assert " 2/2/0 " in row
    assert totals.split(" packages")[0] == str(int(toy.half == "learn"))


def test_a_script_runs_in_a_copy_and_is_watched(place: Workplace, toy: Subject) -> None:
    watching = place.root / "watching"
    watching.mkdir(parents=True)
    (watching / "watching.py").write_text(WATCHING)
    tree = place.lay_out(toy)
    extras = Extras(modules=("watching",), path=(watching,))
    outcome = run_script(place, toy, toy.scripts[0], tree, extras=extras)
    assert outcome.is_well, outcome.said
    assert "seen True" in outcome.said
    assert (tree / "made.txt").exists()
    assert not (place.checkouts / "owner+toy" / "made.txt").exists()


@pytest.mark.parametrize(
    ("status", "said", "error", "used", "fault"),
    [
        (0, "well", "", 8, ""),
        (0, "well", "", 0, "nothing was on a GPU"),
        (None, "", "", 8, "not done in time"),
        (1, "first\n\nlast\n", "", 8, "last"),
        (1, "last", "RuntimeError: two devices", 8, "RuntimeError: two devices"),
    ],
)
def test_a_script_that_fails_says_why(
    status: int | None, said: str, error: str, used: int, fault: str
) -> None:
    outcome = ScriptOutcome(status, said, error, used, 1.0, Path())
    assert outcome.fault == fault
    assert outcome.is_well is not bool(fault)


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    def lines() -> Iterator[str]:
        yield '{"test": "a", "outcome": "passed", "told": "", "bytes": 4}'
        yield '{"test": "b", "outc'

    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(lines()))
    assert list(read_results(path)) == [TestResult("a", "passed", gpu_bytes=4)]
