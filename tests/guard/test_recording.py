"""Reading recordings back: what their lines add up to, and what is no recording."""

import json
from pathlib import Path

import pytest

from runtime_guard._recording import Event, RecordingError, Spot, Tally, read

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
    assert recording.events[0] == Event(0.5, SPOT, 12, 2.0, None, 7)
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


@pytest.mark.parametrize("line", [event(bytes="many"), {"type": "event"}, {"type": "totals"}, {}])
def test_a_line_that_makes_no_sense_is_named(line, path):
    write(path, HEADER, event(), line)
    with pytest.raises(RecordingError, match=r"run\.jsonl:3: not a recording"):
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
