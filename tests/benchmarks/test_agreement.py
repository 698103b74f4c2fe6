"""Claims are held against records: each kind of contradiction is found, and nothing else is."""

import argparse
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.agreement.__main__ import chosen_of
from benchmarks.agreement.claims.files import FileClaims, claims_of_file, of_machine
from benchmarks.agreement.claims.values import NEITHER, Claim, claims_of
from benchmarks.agreement.comparing.reasons import kind_of_reason
from benchmarks.agreement.comparing.totals import compare, compare_file
from benchmarks.agreement.recording.places import Span
from benchmarks.agreement.records import FileRecord, FunctionRecord, Record, Seen
from benchmarks.agreement.running import changed_between
from benchmarks.agreement.tables import Part, as_data, by_subject, last_line, listed, report
from benchmarks.corpora.outcomes import SuiteOutcome, TestResult
from benchmarks.corpora.subjects import Script, Subject, SubjectError
from devicelint.domain.devices import Known
from devicelint.domain.worlds import WITH_ONE, WITH_SEVERAL, WITHOUT
from devicelint.workspace.project import Project

TOY = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("mean", torch.zeros(3))
        self.plain = torch.ones(3)

    def forward(self, x):
        return self.layer(x) - self.mean


def both(one, other):
    near = torch.zeros_like(one)
    return near + other.to(one.device)


def hidden(path, rows):
    found = torch.tensor(path)
    for row in torch.tensor(rows):
        total = found + row
    return total


if torch.cuda.is_available():
    device = torch.device("cuda")
else:
    device = torch.device("cpu")
model = Net().to(device)
made = torch.ones(2)
number = len([1, 2])
"""

CPU, CUDA = Seen("cpu", "tensor", False), Seen("cuda:0", "tensor", False)


def span(line, part):
    """The place of a part of a line of the toy."""
    column = TOY.splitlines()[line - 1].index(part)
    return Span(line, column, line, column + len(part))


def record_of(*seen, kind="Name"):
    """What was recorded: (line, part, what) each."""
    places = {span(line, part): Counter({what: 3}) for line, part, what in seen}
    return FileRecord(50, places, dict.fromkeys(places, kind))


@pytest.fixture
def claims(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    return claims_of_file(path, Project(), 1)


def judged(record, claims):
    return compare_file("toy.py", record, claims)


def test_what_is_so_contradicts_nothing(claims):
    module = Seen("cuda:0", "module", False)
    record = record_of(
        (32, "Net().to(device)", module),
        (33, "torch.ones(2)", CPU),
        (13, "self.mean", CUDA),
        (13, "self.layer", module),
        (17, "one", CUDA),
        (18, "other", CPU),
    )
    totals, found = judged(record, claims)
    assert found == []
    assert totals.places == {"known": 2, "symbol": 4}
    assert totals.evaluations == {"known": 6, "symbol": 12}


def test_a_known_device_is_contradicted(claims):
    totals, found = judged(record_of((33, "torch.ones(2)", CUDA)), claims)
    (one,) = found
    assert (one.kind, one.place) == ("device: a tensor on another one", "33:7")
    assert one.claim == "tensor on cpu (not 0-dim)"
    assert one.history == "created on cpu here, line 33"
    assert (one.seen, one.times) == ("tensor on cuda:0", 3)
    assert totals.contradicted == {one.kind: 3}


def test_an_index_counts_where_it_is_claimed():
    record = record_of((33, "torch.ones(2)", Seen("cuda:1", "tensor", False)))
    place = span(33, "torch.ones(2)")
    for index, contradicted in ((None, 0), (0, 1), (1, 0)):
        found = judged(record, handmade({place: (Claim("tensor", known("cuda", index)),)}))[1]
        assert len(found) == contradicted


def known(kind, index=None):
    return Known(kind, index)


def handmade(*walks, **more):
    said = tuple({at: frozenset(one) for at, one in walk.items()} for walk in walks)
    return FileClaims(said, **more)


def test_one_walk_that_allows_it_is_enough():
    place = span(33, "torch.ones(2)")
    here, there = Claim("tensor", known("cpu")), Claim("tensor", known("cuda"))
    for claims in (handmade({place: (here, there)}), handmade({place: (here,)}, {place: (there,)})):
        totals, found = judged(record_of((33, "torch.ones(2)", CUDA)), claims)
        assert found == []
        assert totals.places == {"known": 1}


@pytest.mark.parametrize(
    ("claim", "what", "kind"),
    [
        (Claim(NEITHER, told="None"), CPU, "kind: a tensor taken for None"),
        (Claim("module"), CPU, "kind: a tensor taken for a module"),
        (Claim("tensor"), Seen("none", "module", False), "kind: a module taken for a tensor"),
        (
            Claim("tensor", scalar=True),
            CPU,
            "dimensions: taken for 0-dim, or the reverse",
        ),
        (Claim("tensor", known("cpu")), Seen("unreadable", "tensor", False), None),
        (Claim("module", known("cpu")), Seen("none", "module", False), None),
        (Claim("module", known("cpu")), Seen("cpu+cuda:0", "module", False), None),
        (
            Claim("module", known("mps")),
            Seen("cpu+cuda:0", "module", False),
            "device: a module on another one",
        ),
        (Claim("unknown", told="why"), CUDA, None),
    ],
)
def test_kinds_of_contradictions(claim, what, kind):
    claims = handmade({span(33, "made"): (claim,)})
    found = judged(record_of((33, "made", what)), claims)[1]
    assert [one.kind for one in found] == ([] if kind is None else [kind])


def test_a_symbol_is_contradicted_in_one_call_alone(claims):
    near, one = span(18, "near"), span(17, "one")
    record = record_of((18, "near", CPU), (17, "one", CUDA))
    totals, found = judged(record, claims)
    assert (found, totals.symbols) == ([], 1), "in two calls they may be in two places"
    call = frozenset({(near, frozenset({"cpu"})), (one, frozenset({"cuda:0"}))})
    record.functions[(16, "both")] = FunctionRecord("both", 5, {call: 2})
    totals, found = judged(record, claims)
    (wrong,) = found
    assert wrong.kind == "symbol: two expressions on two devices"
    assert wrong.claim == "the device of one, as at 17:28"
    assert wrong.seen == "cuda:0 at 17:28 and cpu here"
    assert (wrong.place, wrong.times) == ("18:11", 2)
    assert totals.calls == {"calls": 5, "on several devices": 2}


def test_two_symbols_may_be_two_devices(claims):
    one, other = span(17, "one"), span(18, "other")
    record = record_of((17, "one", CUDA), (18, "other", CPU))
    call = frozenset({(other, frozenset({"cpu"})), (one, frozenset({"cuda:0"}))})
    record.functions[(16, "both")] = FunctionRecord("both", 1, {call: 1})
    assert judged(record, claims)[1] == []


def test_what_is_unknown_has_a_reason(claims):
    record = record_of((24, "found + row", CUDA), kind="BinOp")
    totals, found = judged(record, claims)
    assert found == []
    assert totals.places == {"unknown": 1}
    ((reason, count),) = totals.reasons.items()
    assert (reason, count) == ("… or …", 1)


def test_reasons_lose_their_names():
    assert kind_of_reason("operands of + are not understood") == "operands of … are not understood"
    assert (
        kind_of_reason("no wording of devicelint's at all") == "no wording of devicelint's at all"
    )


def test_what_no_walk_comes_to_is_told_apart(claims):
    record = record_of((24, "found", CUDA))
    function = Span(21, 0, 25, 16)
    silent = handmade(functions={function: True})
    assert judged(record, silent)[0].places == {"path not walked": 1}
    assert judged(record, silent)[0].unwalked == {"Name": 1}
    assert judged(record, handmade(functions={function: False}))[0].places == {
        "function not walked": 1
    }
    assert judged(record, handmade(given_up="why"))[0].places == {"file given up": 1}
    assert claims.functions[function] is True


def test_owned_state(claims):
    record = FileRecord()
    record.owned = {
        "Net": {"layer": {"module"}, "mean": {"parameter"}, "plain": {"plain tensor"}},
        "Other": {"weight": {"parameter"}},
    }
    totals, found = judged(record, claims)
    (wrong,) = found
    assert (wrong.kind, wrong.place) == ("owned: a parameter taken for buffer", "Net.mean")
    assert totals.owned.right == {"module": 1, "plain tensor": 1}
    assert totals.owned.wrong == {"parameter": 1}
    assert totals.owned.unwalked == {"parameter": 1}
    record.owned = {"Net": {"later": {"buffer"}}}
    assert judged(record, claims)[0].owned.unknown == {"buffer": 1}


def test_a_linter_that_is_wrong_is_found_out(tmp_path, monkeypatch):
    """Planted: every tensor is said to be on another device than the analyser has for it."""

    def elsewhere(run, value):
        return tuple(
            Claim(one.what, known("mps"), one.told) if one.is_known else one
            for one in claims_of(run, value)
        )

    monkeypatch.setattr("benchmarks.agreement.claims.walking.claims_of", elsewhere)
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    claims = claims_of_file(path, Project(), 1)
    found = judged(record_of((33, "torch.ones(2)", CPU)), claims)[1]
    assert [one.claim for one in found] == ["tensor on mps"]


def test_the_world_is_that_of_the_machine():
    chosen = WITH_ONE.choosing("fast", True)
    assert of_machine([WITH_ONE, chosen, WITHOUT], 1) == [WITH_ONE, chosen]
    assert of_machine([WITH_ONE, WITH_SEVERAL, WITHOUT], 2) == [WITH_SEVERAL]
    assert of_machine([WITH_ONE, WITHOUT], 2) == [WITH_ONE], "the count makes no difference there"


LIBRARY = """\
import torch


def double(x):
    return x * 2
"""
CALLS = """\
import torch

from library import double


def test_double():
    assert double(torch.ones(3)).sum() == 6
"""


@pytest.mark.parametrize(
    ("seen", "level"),
    [([CPU], "known where called"), ([CUDA], "symbol"), ([CPU, CUDA], "symbol")],
)
def test_a_call_of_another_file_makes_known_what_it_gives(tmp_path, seen, level):
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "test_library.py").write_text(CALLS)
    file = FileRecord(9, {(at := Span(5, 11, 5, 16)): Counter(seen)}, {at: "BinOp"})
    totals, found = compare(Record({"library.py": file}), tmp_path, 0)
    assert (totals.places, found) == ({level: 1}, [])


def test_without_such_a_call_nothing_is_known(tmp_path):
    (tmp_path / "library.py").write_text(LIBRARY)
    file = FileRecord(9, {(at := Span(5, 11, 5, 16)): Counter([CPU])}, {at: "BinOp"})
    assert compare(Record({"library.py": file}), tmp_path, 0)[0].places == {"symbol": 1}


def test_a_file_that_is_no_python_is_given_up(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text("def (")
    assert claims_of_file(path, Project(), 1).given_up == "it cannot be read"


def test_tables(claims):
    record = record_of((33, "torch.ones(2)", CUDA), (24, "found + row", CUDA), (17, "one", CPU))
    totals, found = judged(record, claims)
    part = Part("learn", packages=1, tests=4, totals=totals)
    lines = "\n".join([*by_subject([part]), *report([part])])
    assert "expressions that gave a tensor or a placed module" in lines
    assert "           1           3  … or …" in lines
    assert last_line([part]) == (
        "learn: 1 contradictions in 3 expressions, 33.3% known, 0.0% where called, 33.3% by symbol"
    )
    (title, line, _) = listed({"owner/toy": found})
    assert title == "# device: a tensor on another one: 1"
    assert line == (
        "owner/toy: toy.py:33:7: tensor on cpu (not 0-dim) (created on cpu here, line 33);"
        " seen: tensor on cuda:0, 3 times"
    )
    data = as_data(part)
    assert data["places"] == {"known": 1, "unknown": 1, "symbol": 1}
    both = Part("both")
    both.add(part)
    both.add(part)
    assert both.totals.places.total() == 6


def test_subjects_are_chosen():
    def subject(name):
        return Subject(name, "0" * 40, (".",), scripts=(Script("a", ("a.py",)),))

    every = [subject(f"owner/number{number}") for number in range(20)]
    halves = {half: chosen_of(every, asked(half=half)) for half in ("learn", "measure", None)}
    assert len(halves["learn"]) + len(halves["measure"]) == len(halves[None]) == 20
    assert {one.half for one in halves["learn"]} == {"learn"}
    assert chosen_of(every, asked(seed=1)) != halves[None]
    assert chosen_of(every, asked(seed=1)) == chosen_of(every, asked(seed=1))
    assert [one.name for one in chosen_of(every, asked(only=["Owner/Number3"]))] == [
        "owner/number3"
    ]
    with pytest.raises(SubjectError, match="owner/number99"):
        chosen_of(every, asked(only=["owner/number99"]))


def asked(only=(), half=None, seed=0):
    return argparse.Namespace(only=list(only), half=half, seed=seed)


def test_what_ends_otherwise_is_told():
    def suite(**outcomes):
        results = tuple(TestResult(test, outcome) for test, outcome in outcomes.items())
        return SuiteOutcome(0, results, "", 1.0, Path())

    recorded = suite(a="passed", b="failed", c="passed", d="passed")
    assert changed_between(recorded, suite(a="passed", b="error", c="failed")) == ["c"]


PARTS = """\
import torch


def computed(rows, limit):
    found = strange(rows)
    above = rows > limit
    return found, above


class Mixed:
    def __init__(self, **rest):
        super().__init__(**rest)

    def loss(self, x):
        return self
"""


def test_what_is_no_claim_of_a_kind_contradicts_nothing(tmp_path):
    """A place of its own is a symbol; a condition, or an object of a derived class, may be all."""
    path = tmp_path / "parts.py"
    path.write_text(PARTS)
    claims = claims_of_file(path, Project(), 1)
    said = {(span.line, span.column): one for span, one in claims.places().items()}
    (found,) = said[5, 12]
    assert found.is_symbol
    (above,) = said[6, 12]
    assert (above.what, above.device) == ("unknown", None)
    (self_,) = said[15, 15]
    assert (self_.what, self_.told) == (
        "unknown",
        "an object of a class that derives from one that is seen",
    )
