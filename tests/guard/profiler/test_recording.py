"""Reading recordings back: what their lines add up to, and what is no recording."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime_guard.profiler.recording.recording import (
    RecordedEvent,
    RecordingError,
    Spot,
    Tally,
    read,
)
from runtime_guard.profiler.report.command import document, report_main
from runtime_guard.profiler.report.html.page import render as render_page
from runtime_guard.profiler.report.tables import render as render_tables
from runtime_guard.profiler.report.totals import summarise

HEADER = {
    "type": "header",
    "format": 1,
    "started": 1000.0,
    "pid": 7,
    "host": "node1",
    "rank": None,
    "world_size": None,
    "argv": ["train.py", "--fast"],
    "python": "3.11.7",
    "torch": "2.13.0",
    "continues": False,
}
PLACE = {"file": "train.py", "line": 3, "function": "main"}
WHAT = {"kind": "copy", "op": "Tensor.to", "from": "cpu", "to": "cuda:0"}
SPOT = Spot("train.py", 3, "main", "copy", "Tensor.to", "cpu", "cuda:0")
END = {"type": "end", "at": 9.0, "reason": "exit"}


def event(**other):
    numbers = {"at": 0.5, "bytes": 12, "host_us": 2.0, "device_us": None, "thread": 7}
    return {"type": "event", **PLACE, **WHAT, **numbers, **other}


def totals(count, **other):
    numbers = {"count": count, "bytes": 12 * count, "host_us": 2.0 * count, "device_us": None}
    values = [{"file": "train.py", "line": 3, "name": "x", "devices": {"cuda:0": count}}]
    spots = [{**PLACE, **WHAT, **numbers}]
    return {"type": "totals", "at": 5.0, "steps": 40, "spots": spots, "values": values, **other}


def header(**other):
    return {**HEADER, **other}


def write(path: Path, *lines, end="\n"):
    path.write_text("\n".join(json.dumps(line) for line in lines) + end)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def test_events_add_up(path):
    write(path, HEADER, event(values={"x": "cuda:0"}), event(device_us=4.0, step=2), END)
    (recording,) = read(path)
    assert recording.totals == {SPOT: Tally(2, 24, 4.0, 4.0)}
    assert recording.events[0] == RecordedEvent(0.5, SPOT, 12, 2.0, None, 7)
    assert recording.values == {("train.py", 3, "x"): {"cuda:0": 1}}
    assert recording.header.argv == ("train.py", "--fast")
    assert (recording.steps, recording.complete, recording.dropped) == (2, True, 0)


def test_the_state_is_the_last_totals_and_what_follows(path):
    lines = [HEADER, event(), event(), totals(10, dropped=4), event(values={"x": "cuda:0"})]
    (recording,) = read(write(path, *lines))
    assert recording.totals == {SPOT: Tally(11, 132, 22.0, None)}
    assert recording.values == {("train.py", 3, "x"): {"cuda:0": 11}}
    assert len(recording.events) == 3
    assert (recording.steps, recording.complete, recording.dropped) == (40, False, 4)


def test_the_rotated_part_comes_first(path):
    write(path.with_name("run.jsonl.1"), HEADER, event(at=1.0), totals(1), event(at=2.0))
    write(path, header(continues=True), event(at=3.0), totals(100), event(at=4.0))
    (recording,) = read(path)
    assert recording.totals[SPOT].count == 101
    assert [each.at for each in recording.events] == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("left", [None, "", '{"type": "head'])
def test_killed_while_rotating_the_rotated_part_is_all(path, left):
    write(path.with_name("run.jsonl.1"), HEADER, totals(5), event())
    if left is not None:
        path.write_text(left)
    (recording,) = read(path)
    assert recording.totals[SPOT].count == 6


@pytest.mark.parametrize("other", [{"continues": False}, {"continues": True, "pid": 8}])
def test_a_rotated_part_of_an_earlier_run_is_none_of_it(path, other):
    write(path.with_name("run.jsonl.1"), HEADER, totals(5))
    write(path, header(**other), event())
    (recording,) = read(path)
    assert recording.totals[SPOT].count == 1


def test_a_cut_last_line_is_passed_over(path):
    write(path, HEADER, event(), end='\n{"type": "event", "at": 0.')
    (recording,) = read(path)
    assert recording.totals[SPOT].count == 1
    assert not recording.complete


def test_a_recording_that_was_ended_and_went_on_is_not_complete(path):
    write(path, HEADER, event(), totals(1), END, header(continues=True), event())
    (recording,) = read(path)
    assert recording.totals[SPOT].count == 2
    assert not recording.complete


def test_mismatches_repeated_after_a_rotation_are_told_once(path):
    mismatch = {"type": "mismatch", "module": "encoder", "argument": "x"}
    write(path.with_name("run.jsonl.1"), HEADER, mismatch, totals(1))
    write(path, header(continues=True), mismatch, totals(1))
    (recording,) = read(path)
    assert recording.mismatches == ({"module": "encoder", "argument": "x"},)


def test_files_of_ranks_and_children_are_read_with_the_first(path):
    ranked = {"world_size": 3, "started": 1001.0}
    write(path, header(rank=0, world_size=3), event())
    write(path.with_name("run.rank2.jsonl"), header(rank=2, pid=9, **ranked), event(), event())
    write(path.with_name("run.rank1.jsonl"), header(rank=1, pid=8, **ranked), event())
    write(path.with_name("run.pid11.jsonl"), header(pid=11, started=1002.0))
    found = read(path)
    assert [each.header.rank for each in found] == [0, 1, 2, None]
    assert [sum(t.count for t in each.totals.values()) for each in found] == [1, 1, 2, 0]


def test_what_an_earlier_run_left_is_none_of_it(path):
    write(path, header(rank=0, world_size=2))
    write(path.with_name("run.rank1.jsonl"), header(rank=1, world_size=2, started=10.0))
    write(path.with_name("run.rank3.jsonl"), header(rank=3, world_size=4))
    write(path.with_name("run.pid5.jsonl"), header(pid=5, started=999.0))
    write(path.with_name("run.rankings.jsonl"), {"not": "ours"})
    assert len(read(path)) == 1


def test_a_rank_on_another_machine_is_read_from_the_line_it_sent(path):
    ranks = [
        {
            "type": "rank",
            "rank": rank,
            "host": host,
            "header": header(rank=rank, host=host, pid=rank, world_size=3),
            "totals": totals(rank),
            "mismatches": [{"module": "encoder"}],
        }
        for rank, host in ((1, "node1"), (2, "node2"))
    ]
    write(path, header(rank=0, world_size=3), *ranks, END)
    sibling = header(rank=1, pid=1, world_size=3)
    write(path.with_name("run.rank1.jsonl"), sibling, event(), event(), event())
    first, one, two = read(path)
    assert first.totals == {}
    assert one.totals[SPOT].count == 3, "the file of a rank knows more than what it sent"
    assert (two.header.host, two.totals[SPOT].count, two.steps) == ("node2", 2, 40)
    assert two.mismatches == ({"module": "encoder"},)


NO_RECORDINGS = {
    "text": "loss 0.1\nloss 0.2\n",
    "one line of text": "loss 0.1",
    "JSON": '{"loss": 0.1}\n',
    "a list": "[1, 2]\n",
    "deep": "[" * 100_000 + "\n",
    "events alone": json.dumps(event()) + "\n",
    "an incomplete header": json.dumps({"type": "header", "format": 1}) + "\n",
    "a format that is no number": json.dumps(header(format="1")) + "\n",
    "a format that is one to Python": json.dumps(header(format=True)) + "\n",
}


@pytest.mark.parametrize("name", NO_RECORDINGS)
def test_anything_else_is_refused_by_name_and_line(name, path):
    path.write_text(NO_RECORDINGS[name])
    with pytest.raises(RecordingError, match=r"run\.jsonl:1: not a recording of runtime_guard"):
        read(path)


def test_so_is_binary_data_and_an_empty_file(path):
    path.write_bytes(b"\x80\x02}q\x00.\n")
    with pytest.raises(RecordingError, match="not a recording"):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(RecordingError, match=r"run\.jsonl: empty"):
        read(path)


TENSOR = {"device": "cpu", "shape": [4, 8], "dtype": "torch.float32", "bytes": 128}
MISMATCH = {
    "type": "mismatch",
    "module": "encoder",
    "module_class": "Linear",
    "argument": "input",
    "tensor": TENSOR,
    "expected": "cuda:0",
    "anchor": "parameter 'weight'",
    "failed_at": {"file": "train.py", "line": 3, "function": "main", "text": "model(x)"},
    "entered_at": None,
    "launched_at": None,
    "advice": "write `x = x.to(device)` above",
    "rank": "",
}
RANK = {
    "type": "rank",
    "rank": 1,
    "host": "node2",
    "header": header(rank=1, pid=8),
    "totals": totals(2),
    "mismatches": [{key: value for key, value in MISMATCH.items() if key != "type"}],
}

SENSELESS = {
    '"at" is "soon", expected a number': event(at="soon"),
    '"at" is null, expected a number': event(at=None),
    '"at" is -1, expected a number': event(at=-1),
    '"at" is true, expected a number': {**END, "at": True},
    '"line" is 3.5, expected a whole number': event(line=3.5),
    '"line" is "3", expected a whole number': event(line="3"),
    '"file" is ["train.py"], expected text': event(file=["train.py"]),
    '"kind" is "wait", expected "copy" or "sync" or "index"': event(kind="wait"),
    '"bytes" is "many", expected a whole number': event(bytes="many"),
    '"x" is 0, expected text': event(values={"x": 0}),
    '"steps" is [], expected a whole number': totals(1, steps=[]),
    '"spots" is {}, expected a list': totals(1, spots={}),
    '"spots" is 1, expected an object': totals(1, spots=[1]),
    '"started" is "today", expected a number': header(started="today"),
    '"argv" is "train.py", expected a list': header(argv="train.py"),
    '"argv" is 3, expected text': header(argv=["train.py", 3]),
    '"shape" is "4", expected a whole number': MISMATCH | {"tensor": {**TENSOR, "shape": ["4"]}},
    '"failed_at" is "train.py:3", expected an object': MISMATCH | {"failed_at": "train.py:3"},
    '"header" is null, expected an object': RANK | {"header": None},
    'there is no "at"': {"type": "event"},
    'there is no "spots"': {"type": "totals"},
    'there is no "type"': {},
    "no JSON object": [],
}


@pytest.mark.parametrize("told", SENSELESS)
def test_a_line_that_makes_no_sense_is_named_and_says_why(told, path, capsys):
    write(path, HEADER, event(), SENSELESS[told])
    with pytest.raises(RecordingError) as caught:
        read(path)
    assert str(caught.value) == f"{path}:3: not a recording of runtime_guard ({told})"
    for options in ([], ["--json"], ["--html", str(path.with_name("out.html"))]):
        assert report_main([str(path), *options]) == 2
        assert capsys.readouterr().err == f"runtime_guard report: {caught.value}\n"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400])
def test_numbers_that_are_none_are_refused(number, path):
    path.write_text(f"{json.dumps(HEADER)}\n" + json.dumps(END).replace("9.0", number) + "\n")
    with pytest.raises(RecordingError, match=r"run\.jsonl:2: not a recording"):
        read(path)


@pytest.mark.parametrize("key", [key for key in HEADER if key not in ("type", "continues")])
def test_a_header_that_lacks_anything_is_refused(key, path):
    write(path, {name: value for name, value in HEADER.items() if name != key})
    with pytest.raises(RecordingError, match=rf'run\.jsonl:1: .*there is no "{key}"'):
        read(path)


def places(value, path=()):
    """Yield where each value inside is."""
    yield path
    match value:
        case dict():
            for key in value:
                yield from places(value[key], (*path, key))
        case list():
            for index, item in enumerate(value):
                yield from places(item, (*path, index))
        case _:
            pass


WHOLE = [
    HEADER,
    event(values={"x": "cuda:0"}, step=1),
    totals(10, dropped=4),
    MISMATCH,
    RANK,
    event(device_us=4.0),
    END,
]
PLACES = [place for place in places(WHOLE) if place]
VALUES = st.one_of(
    st.sampled_from([float("nan"), float("inf"), -0.0, 5e-324, 1e300, 2**63 - 1, 10**400, -1]),
    st.sampled_from(
        ["", "\0", "\ud800", "\x1b[2J", "</script>", "sync", "cpu", "totals", "header"]
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=5,
    ),
)


def mutated(place, change):
    lines = copy.deepcopy(WHOLE)
    *way, last = place
    inside = lines
    for key in way:
        inside = inside[key]
    if change is None:
        del inside[last]
    else:
        inside[last] = change[0]
    return lines


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.sampled_from(PLACES), change=st.none() | st.tuples(VALUES))
def test_whatever_is_changed_in_a_recording_it_is_reported_or_refused(place, change, tmp_path):
    path = write(tmp_path / "run.jsonl", *mutated(place, change))
    try:
        found = read(path)
    except RecordingError as error:
        assert str(error).startswith(f"{path}:")  # noqa: PT017 - that it is read is as good
        return
    render_tables(found)
    json.dumps(document(found, summarise(found)), allow_nan=False)
    render_page(found).encode(errors="backslashreplace")


def test_the_recording_that_is_changed_there_can_be_read(path):
    first, other = read(write(path, *WHOLE))
    assert first.totals[SPOT].count == 11
    assert first.mismatches == other.mismatches != ()


def test_it_lasted_until_its_end_or_as_far_as_it_is_known(path):
    lines = [HEADER, event(at=1.0, host_us=2e6), totals(1), END]
    seconds = [read(write(path, *lines[:until]))[0].seconds for until in range(1, 5)]
    assert seconds == [0.0, 3.0, 5.0, 9.0]


def test_the_time_of_a_rank_elsewhere_is_what_it_sent(path):
    assert [each.seconds for each in read(write(path, HEADER, RANK))] == [0.0, 5.0]


def test_a_later_header_says_more(path):
    write(path, header(argv=["-m"]), event(), header(continues=True, rank=3), totals(1), END)
    (recording,) = read(path)
    assert (recording.header.argv[0], recording.header.rank) == ("train.py", 3)
    assert recording.complete


@pytest.mark.parametrize("folder", [".", "run.jsonl"])
def test_a_folder_is_no_recording(folder, path, monkeypatch):
    path.mkdir()
    monkeypatch.chdir(path.parent)
    with pytest.raises(RecordingError, match="a folder, not a recording"):
        read(Path(folder))


def test_folders_and_cut_files_that_are_called_like_a_rank_are_none(path):
    write(path, header(rank=0, world_size=3))
    path.with_name("run.rank1.jsonl").mkdir()
    path.with_name("run.rank2.jsonl").write_text('{"type": "head')
    path.with_name("run.jsonl.1").mkdir()
    assert len(read(path)) == 1


def test_nothing_but_a_cut_line_is_no_recording(path):
    path.with_name("run.jsonl.1").write_text('{"type": "head')
    with pytest.raises(RecordingError, match="nothing was recorded"):
        read(path)


def test_a_newer_format_says_so(path):
    write(path, header(format=2))
    with pytest.raises(RecordingError, match="written in format 2, this version reads 1"):
        read(path)


def test_lines_of_a_kind_that_is_not_known_are_passed_over(path):
    (recording,) = read(write(path, HEADER, {"type": "remark", "text": "hello"}, event()))
    assert recording.totals[SPOT].count == 1


def test_a_file_that_is_not_there_is_an_ordinary_error(path):
    with pytest.raises(FileNotFoundError):
        read(path)
