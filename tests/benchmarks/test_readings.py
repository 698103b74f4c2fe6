"""`benchmarks.readings` measures a batch once, and only where everything was read."""

from __future__ import annotations

import json

import pytest

from benchmarks.checkouts import CheckoutError, checkouts_below, git
from benchmarks.readings.__main__ import main
from benchmarks.readings.checking import Cited, Found, Read, analyser_commit, check, write_lines
from benchmarks.readings.figures import counted, judged
from benchmarks.readings.ledger import Batch, Skipped, as_toml, read_batch, read_ledger
from benchmarks.readings.sampling import sample
from benchmarks.readings.seen import SeenBug, SeenFile, held_against
from benchmarks.readings.verdicts import VERDICTS, ReadingError, joined, read_verdicts

COMMIT = "a" * 40
TRAIN = """import torch
assert torch.cuda.is_available()
net = torch.nn.Linear(4, 2).to("cuda")
net(torch.zeros(3, 4))
"""
LEDGER = read_ledger()


@pytest.fixture
def folder(tmp_path):
    """The checkout of one repository, as readers have it."""
    trees = tmp_path / "trees"
    checkout = trees / "owner+name"
    checkout.mkdir(parents=True)
    checkout.with_name("owner+name.commit").write_text(COMMIT + "\n")
    (checkout / "train.py").write_text(TRAIN)
    (checkout / "broken.py").write_text("import torch\nprint 'two'\n")
    return trees


@pytest.fixture
def ledger(tmp_path):
    """A ledger of its own, with nothing in it."""
    path = tmp_path / "ledger"
    path.mkdir()
    (path / "ledger.toml").write_text("")
    return path


@pytest.fixture
def run(capsys, ledger):
    """Run the command on that ledger: its status, and all that it says."""

    def run(*words):
        status = main(["--ledger", str(ledger), *map(str, words)])
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


def found(line=4, **changes):
    entry = {"repo": "owner/name", "file": "train.py", "line": line, "column": 5}
    entry |= {"end_line": line, "cell": None, "code": "DEV103", "certainty": "certain"}
    entry |= {"machine": "", "message": "it is elsewhere", "text": "0f", "cited": ()}
    return Found(**entry | changes)


THREE = (found(4), found(5), found(6))


def verdict(line=4, **changes):
    entry = {"repo": "owner/name", "file": "train.py", "cell": None, "line": line, "column": 5}
    entry |= {"code": "DEV103", "verdict": "right", "act": True, "cause": ""}
    return entry | {"reason": "nothing moves it"} | changes


def batch(findings, **changes):
    read = Read("owner/name", COMMIT, 2, 0, 6, ("unreadable: broken.py: 2:1: no",))
    entry = {"number": 1, "date": "2026-11-23", "devicelint": "b" * 40, "findings": findings}
    entry |= {"repositories": (read,), "skipped": (Skipped("owner/huge", "it is too large"),)}
    return Batch(**entry | changes)


@pytest.fixture
def given(tmp_path):
    """Write what a check leaves for readers, and what readers write."""

    def given(verdicts, finds=THREE, **changes):
        findings, said = tmp_path / "found.jsonl", tmp_path / "read.jsonl"
        write_lines(findings, finds)
        entry = as_toml(batch(len(finds), **changes))
        findings.with_name("found.jsonl.toml").write_text(entry)
        said.write_text("".join(json.dumps(each) + "\n" for each in verdicts))
        return findings, said

    return given


READ = (
    verdict(4),
    verdict(5, verdict="debatable", act=False, cause="nobody calls it"),
    verdict(6, verdict="wrong", cause="nobody calls it"),
)


def test_a_repository_is_checked_and_no_code_is_written(folder, run, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.readings.__main__.analyser_commit", lambda root: "b" * 40)
    out = tmp_path / "found.jsonl"
    status, said = run("check", folder, "--batch", 1, "--out", out, "--skipped", "owner/huge: big")
    assert status == 0
    [finding] = map(json.loads, out.read_text().splitlines())
    assert (finding["file"], finding["line"], finding["column"]) == ("train.py", 4, 5)
    assert (finding["certainty"], finding["repo"]) == ("certain", "owner/name")
    assert finding["cited"][0]["file"] == "train.py"
    entry = read_batch(tmp_path / "found.jsonl.toml")
    assert (entry.findings, entry.lines, entry.devicelint) == (1, 6, "b" * 40)
    assert entry.skipped == (Skipped("owner/huge", "big"),)
    assert "unreadable: broken.py" in said


def test_notebooks_are_checked_by_default(folder):
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    book = {"cells": [cell | {"source": TRAIN}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "owner+name" / "train.ipynb").write_text(json.dumps(book))
    read, finds = check(checkouts_below(folder)[0])
    assert (read.files, read.notebooks) == (2, 1)
    assert [(each.file, each.cell) for each in finds] == [("train.py", None), ("train.ipynb", 1)]


def test_what_is_read_is_a_commit_of_the_analyser(tmp_path):
    (tmp_path / "devicelint").mkdir()
    (tmp_path / "devicelint" / "rule.py").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    git(tmp_path, *name, "commit", "-qm", "one")
    first = analyser_commit(tmp_path)
    (tmp_path / "README.md").write_text("of no concern\n")
    git(tmp_path, "add", ".")
    git(tmp_path, *name, "commit", "-qm", "two")
    assert analyser_commit(tmp_path) == first
    (tmp_path / "devicelint" / "rule.py").write_text("changed\n")
    with pytest.raises(CheckoutError, match="has changes that no commit holds"):
        analyser_commit(tmp_path)


def test_the_ledger_adds_up(run, given):
    status, said = run("merge", *given(READ))
    assert status == 0
    row = next(line for line in said.splitlines() if line.startswith("batch 1 "))
    assert row.split()[4:10] == ["0.000", "3", "1", "1", "1", "33.3%"]
    assert "skipped  owner/huge: it is too large" in said
    assert "the commonest of 1 causes of what is not right\n     2  nobody calls it\n" in said
    assert run() == (0, said)


def test_figures_come_as_data(run, given, tmp_path):
    run("merge", *given(READ))
    data = tmp_path / "figures.json"
    assert main(["--ledger", str(tmp_path / "ledger"), "--json", str(data)]) == 0
    figures = json.loads(data.read_text())
    assert figures["rows"][0]["counts"] == {"right": 1, "debatable": 1, "wrong": 1, "act": 2}
    rule = next(each for each in figures["groups"] if each["by"] == "rule")
    assert (rule["group"], rule["right"], rule["wrong"]) == ("DEV103", 1, 1)


def test_a_batch_is_never_measured_twice(run, given, folder, tmp_path, ledger):
    run("merge", *given(READ))
    before = (ledger / "ledger.toml").read_text()
    for words in (
        ("merge", *given(READ)),
        ("check", folder, "--batch", 1, "--out", tmp_path / "again.jsonl"),
    ):
        status, said = run(*words)
        assert status == 2
        assert "batch 1 was measured on 2026-11-23" in said
    assert (ledger / "ledger.toml").read_text() == before


def test_a_repository_measures_once(run, given, folder, tmp_path):
    run("merge", *given(READ))
    status, said = run("check", folder, "--batch", 2, "--out", tmp_path / "again.jsonl")
    assert (status, said) == (2, "owner/name was read before, in batch 1: it measures nothing\n")


def test_known_repositories_measure_nothing(ledger):
    with pytest.raises(ReadingError, match="in the known repositories"):
        read_ledger(ledger).refuse_again(1, ["karpathy/nanoGPT"])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (READ[:2], "findings that nobody has read: 1: owner/name train.py:6:5 DEV103"),
        ((*READ, READ[0]), "findings with two verdicts: 1"),
        ((*READ, verdict(9)), "verdicts on what was not found: 1: owner/name train.py:9:5"),
        ((*READ[:2], verdict(6, verdict="fine")), "read.jsonl:3: 'fine' is no verdict"),
        ((*READ[:2], verdict(6, reason=" ")), "read.jsonl:3: the verdict has no reason"),
        ((*READ[:2], verdict(6, act=None)), "read.jsonl:3: whether a maintainer would act"),
        (
            (*READ[:2], {"verdict": "right", "reason": "x", "act": True}),
            "read.jsonl:3: has no repo",
        ),
        ((*READ[:2], []), "read.jsonl:3: not an object"),
    ],
)
def test_verdicts_that_are_not_whole_are_refused(run, given, ledger, said, told):
    status, text = run("merge", *given(said))
    assert status == 2
    assert told in text
    assert len(text.splitlines()) == 1
    assert not (ledger / "batch_1.jsonl").exists()
    assert (ledger / "ledger.toml").read_text() == ""


def test_a_part_can_be_told_to_be_complete(run, given):
    assert run("complete", *given(READ)) == (0, "3 findings, each with its verdict\n")


def test_a_ledger_without_its_verdicts_is_refused(run, given, ledger):
    run("merge", *given(READ))
    lines = (ledger / "batch_1.jsonl").read_text().splitlines()
    (ledger / "batch_1.jsonl").write_text("\n".join(lines[:2]))
    assert run() == (2, "batch_1.jsonl holds 2 verdicts on 3 findings: 1 unread\n")


def test_copies_are_told_apart(run, given):
    finds = (found(4), found(4, file="third/party.py"), found(5, text="1f"))
    said = (verdict(4), verdict(4, file="third/party.py", verdict="wrong"), verdict(5))
    _, text = run("merge", *given(said, finds, vendored=("owner/name/third",)))
    lines = {line[:15].strip(): line.split() for line in text.splitlines()}
    assert lines["own code"][2:6] == ["2", "2", "0", "0"]
    assert lines["copied projects"][2:6] == ["1", "0", "0", "1"]
    assert lines["each text once"][3:7] == ["2", "1", "0", "1"]


@pytest.mark.parametrize(
    ("bug", "is_found"),
    [
        (SeenBug(4, (), "the input stays"), True),
        (SeenBug(9, (4,), "the input stays"), True),
        (SeenBug(7, (), "it fails where the finding says"), True),
        (SeenBug(5, (6,), "something else"), False),
    ],
)
def test_a_bug_is_found_at_its_line_or_at_its_cause(bug, is_found):
    finding = found(4, cited=(Cited("train.py", 7, None, "fails here"),))
    elsewhere = found(5, file="other.py")
    [held] = held_against(SeenFile("owner/name", "train.py", (bug,)), [finding, elsewhere]).bugs
    assert held.found is is_found


def test_what_readers_saw_is_counted(run, given, tmp_path):
    seen = tmp_path / "seen.jsonl"
    bug = '{"line": %d, "causes": [], "what": "it stays"}'
    bugs = ", ".join(bug % line for line in (4, 99))
    seen.write_text(f'{{"repo": "owner/name", "file": "train.py", "bugs": [{bugs}]}}')
    _, said = run("merge", *given(READ), "--seen", seen)
    row = next(line for line in said.splitlines() if line.startswith("batch 1 "))
    assert row.split()[-2:] == ["2", "1"]


def test_a_sample_is_drawn_again_by_its_seed(folder):
    checkout = folder / "owner+name"
    training = "import torch\n" + "x = 1\n" * 50 + "def forward(x): return x\n"
    for name in ("one.py", "two.py", "tests/three.py", "copied/four.py", "test_five.py"):
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).write_text(training)
    (checkout / "other.py").write_text("import torch\n" + "x = 1\n" * 50)
    drawn = sample(checkouts_below(folder), 3, 20, ["owner/name/copied"])
    assert sorted(each.file for each in drawn) == ["one.py", "two.py"]
    assert drawn == sample(checkouts_below(folder), 3, 20, ["owner/name/copied"])
    assert len(sample(checkouts_below(folder), 3, 1)) == 1


def test_the_real_ledger_can_be_shown(capsys):
    assert main([]) == 0
    assert "known: 29 libraries" in capsys.readouterr().out


@pytest.mark.parametrize("batch", LEDGER.batches, ids=lambda batch: f"batch {batch.number}")
def test_the_real_batches_are_whole(batch):
    whole = judged(batch, LEDGER)
    counts = counted(whole.verdicts)
    assert counts.findings == batch.findings
    for kind in ("repository", "rule", "certainty"):
        groups = [group for by, _, group in whole.groups() if by == kind]
        assert sum(each.findings for each in groups) == batch.findings
    assert all(each.verdict in VERDICTS and each.reason for each in whole.verdicts)
    assert all(each.cause for each in whole.verdicts if each.verdict != "right")


def test_verdicts_keep_what_is_known_of_the_finding(given):
    _, said = given([verdict(4)])
    [each] = joined([found(4)], read_verdicts(said), {"owner/name": COMMIT})
    assert (each.commit, each.certainty) == (COMMIT, "certain")


def test_what_is_still_said_is_counted_by_verdict(folder, run, tmp_path):
    said = [
        {"repo": "owner/name", "file": "train.py", "line": 4, "code": "DEV103", "verdict": "right"},
        {"repo": "owner/name", "file": "train.py", "line": 2, "code": "DEV101", "verdict": "wrong"},
        {"repo": "owner/else", "file": "train.py", "line": 4, "code": "DEV103", "verdict": "wrong"},
    ]
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_text("".join(json.dumps(each) + "\n" for each in said))
    status, told = run("again", folder, earlier, "--new")
    assert status == 0
    *_, every = told.splitlines()
    assert every.split() == "all 1 of 1 - 0 of 1 0".split()


def test_what_was_not_read_before_is_new(folder, run, tmp_path):
    earlier = tmp_path / "earlier.jsonl"
    entry = {"repo": "owner/name", "file": "train.py", "line": 9, "code": "DEV103"}
    earlier.write_text(json.dumps(entry | {"verdict": "debatable"}) + "\n")
    _, told = run("again", folder, earlier, "--new")
    assert told.splitlines()[-2:] == [
        "all                         -          0 of 1               -       1",
        "new: owner/name train.py:4 DEV103",
    ]


def test_a_verdict_without_a_rule_is_refused(folder, run, tmp_path):
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_text('{"repo": "owner/name", "file": "train.py", "line": 9}\n')
    assert run("again", folder, earlier) == (2, "earlier.jsonl:1: has no code\n")
