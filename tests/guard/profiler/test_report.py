"""What a recording says in a terminal and as JSON, and how the command fails."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from runtime_guard.profiler.recording.recording import Recording, Tally, read
from runtime_guard.profiler.report.advice import advise, worst
from runtime_guard.profiler.report.command import report_main
from runtime_guard.profiler.report.mismatches import gather
from runtime_guard.profiler.report.source import read_source
from runtime_guard.profiler.report.tables import ReportTables, headline, render
from runtime_guard.profiler.report.totals import Row, summarise
from runtime_guard.profiler.report.words import counted, duration, percent, rate, short_path, size
from runtime_guard.profiler.report.writing import write_whole
from tests.guard.sample_recording import HEADER, MISMATCH, TRAIN, on_disk, ranks, recording, spot


@pytest.fixture
def train(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    return path


def row(**changes) -> Row:
    usual = {
        "file": "train.py",
        "line": 7,
        "function": "train",
        "kind": "copy",
        "op": "Tensor.to",
        "sources": ("cpu",),
        "targets": ("cuda:0",),
        "count": 100,
        "bytes": 100_000,
        "host_us": 1e5,
        "device_us": None,
        "per_step": 1.0,
        "share": 0.1,
    }
    return Row(**{**usual, **changes})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (size(0), "0 B"),
        (size(999), "999 B"),
        (size(1000), "1.0 kB"),
        (size(3_140_000), "3.1 MB"),
        (size(999_600), "1.0 MB"),
        (size(2e15), "2,000 TB"),
        (duration(None), "-"),
        (duration(85.4), "85 µs"),
        (duration(999.7), "1.0 ms"),
        (duration(1.25e6), "1.2 s"),
        (duration(7.2e9), "120 min"),
        (percent(0), "0 %"),
        (percent(0.004), "< 1 %"),
        (percent(0.119), "12 %"),
        (rate(None), "-"),
        (rate(1.0), "1"),
        (rate(0.0167), "0.017"),
        (rate(1234.5), "1,234"),
        (counted(1, "copy", "copies"), "1 copy"),
        (counted(1200, "copy", "copies"), "1,200 copies"),
    ],
)
def test_numbers_are_short_and_have_a_unit(written, expected):
    assert written == expected


def test_a_path_below_the_current_folder_is_shown_from_there(train, tmp_path):
    assert short_path(str(train)) == "train.py"
    assert short_path(str(tmp_path.parent / "other.py")) == str(tmp_path.parent / "other.py")
    assert short_path("<ipython-input-1>") == "<ipython-input-1>"


def test_the_headline_says_how_much_went_where_and_what_part_of_the_time_it_took(train):
    summary = summarise([recording(str(train))])
    assert headline(summary) == (
        "10 kB to cuda:0 in 10 copies, 10 synchronisations: 30 % of the time; 1 mismatch"
    )


def test_a_run_without_transfers_says_so():
    assert headline(summarise([Recording(HEADER)])) == (
        "No copies between devices and no synchronisations"
    )
    assert render([Recording(HEADER)])


@pytest.mark.parametrize("target", ["cpu", "meta"])
def test_copies_within_the_host_or_without_data_go_to_no_device(target):
    pinned = spot("train.py", 3, op="Tensor.pin_memory", target=target)
    assert summarise([Recording(HEADER, {pinned: Tally(3, 300, 10.0)})]).flows == ()


@pytest.mark.parametrize("argv", [(), ("",), ("-c",), ("-m",)])
def test_a_run_of_no_file_and_unknown_length_is_named_all_the_same(argv):
    text = render([Recording(replace(HEADER, argv=argv))])
    assert text.splitlines()[0] == "python (node7, torch 2.13.0)"


def test_ranks_are_added_up_line_by_line_whichever_their_devices(train):
    summary = summarise(ranks(str(train), 2))
    copies, waits = sorted(summary.rows, key=lambda row: row.line)
    assert (copies.count, copies.bytes, copies.device_us) == (20, 20_000, 1000.0)
    assert copies.targets == waits.sources == ("cuda:0", "cuda:1")
    assert copies.per_step == 1
    assert summary.share == pytest.approx(0.3)
    assert [flow.target for flow in summary.flows] == ["cuda:0", "cuda:1"]


def test_within_one_process_the_ways_between_its_devices_are_told_apart():
    there = spot("a.py", 1, source="cuda:0", target="cuda:1")
    back = spot("a.py", 1, source="cuda:1", target="cuda:0")
    totals = {there: Tally(1, 10, 1.0), back: Tally(1, 20, 1.0)}
    assert len(summarise([Recording(HEADER, totals)]).rows) == 2


def test_a_rank_of_which_only_totals_arrived_counts_as_long_as_it_recorded(train):
    first, second = ranks(str(train), 2)
    summary = summarise([first, replace(second, events=())])
    assert summary.share == pytest.approx(0.3)
    short = summarise([first, replace(second, events=(), seconds=0.2)])
    assert short.share == pytest.approx(0.2)


def test_only_names_that_one_process_saw_on_several_devices_are_told(train):
    found = summarise(ranks(str(train), 2)).values
    assert [(value.line, value.name) for value in found] == [(7, "x")]
    assert found[0].devices == {"cuda:0": 9, "cuda:1": 9, "cpu": 2}


def test_a_mismatch_that_several_ranks_saw_is_told_once():
    found = gather([MISMATCH | {"rank": f"rank {rank} on node7"} for rank in range(3)])
    assert len(found) == 1
    assert found[0].what == "layers.0 (Linear) got input (float32[4, 8]) on cpu"
    assert found[0].expected == "cuda:0, as parameter 'weight'"
    assert found[0].ranks == ("rank 0 on node7", "rank 1 on node7", "rank 2 on node7")
    assert found[0].advice == "Write `x = x.to(device)` above"


def test_a_mismatch_of_which_little_is_known_is_told_all_the_same():
    assert gather([{}])[0].what == "a module got a tensor (tensor[]) on another device"


@pytest.mark.parametrize("order", ["time", "bytes", "count"])
def test_lines_are_sorted_by_what_is_asked_for(order):
    costs = {"time": 1, "bytes": 2, "count": 3}
    totals = {
        spot("a.py", 1): Tally(1, 1, 9.0),
        spot("a.py", 2): Tally(1, 9, 1.0),
        spot("a.py", 3): Tally(9, 1, 1.0),
    }
    summary = summarise([Recording(HEADER, totals)])
    assert summary.sorted(order)[0].line == costs[order]


def test_the_tables_name_lines_values_mismatches_and_what_to_do(train):
    text = render([recording(str(train))], width=140)
    assert "train.py --epochs 3 (node7, torch 2.13.0, 10 steps, 100 ms)" in text
    assert "train.py:9" in text
    assert "Tensor.item" in text
    assert "cuda:0 → cpu" in text
    assert "9 on cuda:0, 1 on cpu" in text
    assert "layers.0 (Linear) got input (float32[4, 8]) on cpu" in text
    assert "keep the sum on the device" in text


@pytest.mark.parametrize("width", [30, 60, 80, 100, 200])
def test_the_tables_keep_to_the_terminal(train, width):
    text = render(ranks(str(train), 2), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "20 %" in text


def test_more_lines_than_asked_for_are_counted():
    totals = {spot("a.py", number): Tally(1, 1, 1.0) for number in range(1, 31)}
    output = io.StringIO()
    Console(file=output, width=100).print(ReportTables([Recording(HEADER, totals)], limit=20))
    assert "and 10 more lines" in output.getvalue()
    assert "a.py:21" not in output.getvalue()


def test_a_run_that_was_killed_or_lost_count_says_so(train):
    text = render([recording(str(train), complete=False, dropped=3)])
    assert "The run did not close the record" in text
    assert "3 events and values went uncounted" in text
    assert "uncounted" not in render([recording(str(train))])


def test_that_waiting_has_a_reason_is_said_only_where_something_waited(train):
    assert "Waiting includes" in render([recording(str(train))])
    assert "Waiting" not in render([recording(str(train), totals={spot("a", 1): Tally(1, 1, 1)})])


def test_what_a_recording_holds_neither_moves_the_cursor_nor_is_markup():
    nasty = spot("\x1b[2J[red]x.py", 1, op="\x1b]0;title\x07")
    text = render([Recording(HEADER, {nasty: Tally(1, 1, 1.0)})], width=160)
    assert "\x1b" not in text
    assert "\\x1b[2J[red]x.py:1" in text


@pytest.mark.parametrize(
    ("changes", "line", "told"),
    [
        ({"kind": "index", "op": "x[index]"}, "", "index is on the CPU and is copied to cuda:0"),
        ({"kind": "sync", "op": "Tensor.item"}, "", "`.item()` waits for the device at every step"),
        (
            {"kind": "sync", "op": "float()", "per_step": 0.01},
            "",
            "`float()` waits for the device:",
        ),
        (
            {"kind": "sync", "op": "bool()", "per_step": 3.0},
            "",
            "waits for the device 3 times a st",
        ),
        ({"kind": "sync", "op": "x[mask]"}, "", "torch.where(mask, x, 0)"),
        ({"kind": "sync", "op": "Tensor.nonzero"}, "", "torch.where(mask, x, 0)"),
        ({"kind": "sync", "op": "cuda.synchronize"}, "", "torch.cuda.Event"),
        ({"kind": "sync", "op": "x[index]"}, "", "`x[index]` waits for the device at every step"),
        ({"targets": ("cpu",), "sources": ("cuda:0",)}, "", "copy once, after the loop"),
        (
            {"targets": ("cpu",), "sources": ("cuda:0",), "per_step": 0.1},
            "",
            "collect on the device and copy once",
        ),
        ({"sources": ("cuda:0",), "targets": ("cuda:1",)}, "", "Crosses from device to device"),
        ({}, "mask = torch.ones(n).to(device)", "make it there, with `device=`"),
        ({"op": "torch.tensor"}, "torch.tensor([1], device=d)", "Copies values of Python"),
        ({"op": "torch.tensor", "count": 1}, "", ""),
        ({"op": "Module.to"}, "model.to(device)", "Moves a whole module at every step"),
        ({"op": "Module.to", "count": 1, "per_step": 0.01}, "model.to(device)", ""),
        ({"function": "forward"}, "x + self.table.to(x.device)", "register them as a buffer"),
        ({"per_step": 8.0}, "part.to(device)", "copy once"),
        ({}, "x = x.to(device)", "`pin_memory=True`"),
        ({}, "x = x.to(device, non_blocking=True)", ""),
    ],
)
def test_each_kind_of_line_has_its_advice(changes, line, told):
    text = advise(row(**changes), line)
    assert told in text
    assert bool(text) == bool(told)


def test_advice_reads_the_line_in_its_file_and_is_given_once_for_all_lines(train):
    train.write_text(TRAIN.replace("x = x.to(device)", "x = x.to(device, non_blocking=True)"))
    found = worst(summarise([recording(str(train))]))
    assert [[row.line for row in each.rows] for each in found] == [[9]]
    items = {
        spot(str(train), line, "sync", "Tensor.item", "cuda:0", "cpu"): Tally(10, 40, 1000.0)
        for line in (2, 3)
    }
    both = worst(summarise([recording(str(train), totals=items)]))
    assert [[row.line for row in each.rows] for each in both] == [[2, 3]]
    assert both[0].share == pytest.approx(0.02)


def test_lines_that_cost_nothing_are_left_in_peace():
    cheap = {spot("a.py", 1, "sync", "Tensor.item", "cuda:0", "cpu"): Tally(10, 40, 1.0)}
    assert worst(summarise([recording("a.py", totals=cheap)])) == []


@pytest.mark.parametrize("name", ["secret.txt", "missing.py", "folder.py"])
def test_only_python_files_are_read(tmp_path, name):
    (tmp_path / "secret.txt").write_text("password")
    (tmp_path / "folder.py").mkdir()
    assert read_source(str(tmp_path / name)).lines == ()


def test_source_is_read_in_its_own_encoding_and_as_python_counts_lines(tmp_path):
    path = tmp_path / "train.py"
    path.write_bytes("# coding: latin-1\nx = 'é\x0c'\r\ny = 1\x1b\n".encode("latin-1"))
    assert read_source(str(path)).lines == ("# coding: latin-1", "x = 'é '", "y = 1 ")


def test_the_command_prints_tables(train, tmp_path, capsys):
    path = on_disk(tmp_path / "run.jsonl", str(train))
    assert report_main([str(path), "--limit", "1", "--sort", "bytes"]) == 0
    printed = capsys.readouterr().out
    assert "and 1 more line" in printed
    assert "30 % of the time" in printed


@pytest.fixture
def deep(tmp_path, monkeypatch):
    """A script whose path takes more than a line, from the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "packages" / ("of_a_long_name_" * 8) / "train.py"
    path.parent.mkdir(parents=True)
    path.write_text(TRAIN)
    return path


def test_other_programs_get_a_line_a_row_and_no_rules(deep, tmp_path, capsys):
    assert report_main([str(on_disk(tmp_path / "run.jsonl", str(deep)))]) == 0
    printed = capsys.readouterr().out
    name = f"{short_path(str(deep))}:9"
    rows = [line.split() for line in printed.splitlines() if name in line]
    assert rows[0] == [name, *"Tensor.item cuda:0 → cpu 10 - 40 B 20 ms - 20 %".split()]
    assert rows[1][:4] == ["20", "%", name, "`.item()`"]
    assert rows[1][-1] == "epoch."
    assert "─" not in printed


def test_the_environment_says_how_wide_a_pipe_is(deep, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    assert report_main([str(on_disk(tmp_path / "run.jsonl", str(deep)))]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 60


def test_the_command_prints_one_json_document(train, tmp_path, capsys):
    path = on_disk(tmp_path / "run.jsonl", str(train))
    assert report_main([str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["synchronisations"] == 10
    assert document["flows"] == [{"target": "cuda:0", "count": 10, "bytes": 10_000}]
    assert [row["line"] for row in document["rows"]] == [9, 7]
    assert document["processes"][0]["host"] == "node7"
    assert not document["processes"][0]["complete"]
    assert document["advice"][0]["lines"] == [{"file": str(train), "line": 9}]


def test_the_command_writes_a_page_and_says_where(train, tmp_path, capsys):
    path = on_disk(tmp_path / "run.jsonl", str(train))
    assert report_main([str(path), "--html", "out.html"]) == 0
    assert "Wrote out.html" in capsys.readouterr().out
    assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")


def test_a_file_whose_name_is_not_unicode_is_in_the_page(train, tmp_path):
    path = on_disk(tmp_path / "run.jsonl", "caf\udce9.py")
    assert report_main([str(path), "--html", "out.html"]) == 0
    assert "caf\\udce9.py" in (tmp_path / "out.html").read_text()


def test_a_recording_that_breaks_off_is_reported(train, tmp_path, capsys):
    path = on_disk(tmp_path / "run.jsonl", str(train))
    path.write_bytes(path.read_bytes()[:-50])
    assert report_main([str(path)]) == 0
    assert "9 synchronisations" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["missing.jsonl"], "missing.jsonl: No such file or directory"),
        (["binary"], "binary:1: not a recording of runtime_guard"),
        (["other.jsonl"], "other.jsonl:1: not a recording of runtime_guard"),
        (["."], ".: a folder, not a recording"),
        ([], "required: FILE"),
        (["run.jsonl", "--sort", "name"], "invalid choice: 'name'"),
        (["run.jsonl", "--limit", "-1"], "'-1' is not a whole number"),
        (["run.jsonl", "--html", "none/out.html"], "none/out.html: No such file or directory"),
        (["run.jsonl", "--html", "."], ".: Is a directory"),
    ],
)
def test_what_cannot_be_read_or_written_is_told_in_one_line(train, arguments, told, capsys):
    on_disk(train.with_name("run.jsonl"), str(train))
    train.with_name("binary").write_bytes(bytes(range(256)))
    train.with_name("other.jsonl").write_text('{"level": "info"}\n')
    assert report_main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("runtime_guard report: ")
    assert told in output.err
    assert output.err.count("\n") == 1


def test_a_page_replaces_the_old_one_only_when_it_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "out.html"
    path.write_text("old")

    def interrupted(self, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_whole(path, "new")
    assert path.read_text() == "old"
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_goes_where_a_link_leads(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "out.html"
    link.symlink_to(tmp_path / "folder" / "real.html")
    write_whole(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "real.html").read_text() == "new"


def test_a_page_does_not_take_the_place_of_the_recording(train, tmp_path, capsys):
    path = on_disk(tmp_path / "run.jsonl", str(train))
    before = path.read_text()
    assert report_main([str(path), "--html", f"{tmp_path}/../{tmp_path.name}/run.jsonl"]) == 2
    assert "it would overwrite the recording" in capsys.readouterr().err
    assert path.read_text() == before


def test_a_pipe_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert pipe.is_fifo()


def test_standard_output_that_goes_to_a_file_is_added_to(tmp_path):
    with (tmp_path / "out").open("w") as file:
        file.write("first\n")
        file.flush()
        write_whole(Path(f"/dev/fd/{file.fileno()}"), "second\n")
    assert (tmp_path / "out").read_text() == "first\nsecond\n"


def test_the_report_needs_neither_torch_nor_a_utf8_terminal(train, tmp_path):
    path = on_disk(tmp_path / "run.jsonl", str(train))
    program = (
        "import sys; from runtime_guard.profiler.report.command import report_main;"
        f"status = report_main([{str(path)!r}]); assert status == 0;"
        "assert 'torch' not in sys.modules"
    )
    repository = str(Path(__file__).parents[3])
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=False,
        env={"PYTHONPATH": repository, "PYTHONIOENCODING": "ascii"},
    )
    assert found.returncode == 0, found.stderr.decode()
    assert b"train.py:9" in found.stdout
    assert b"\x1b" not in found.stdout


def of_virtual_gpu(train):
    real = recording(train)
    return replace(real, header=replace(real.header, virtual=True))


def test_a_virtual_run_is_called_so_and_has_no_times(train):
    shown = render([of_virtual_gpu(train)], width=140)
    assert "On a virtual GPU nothing is copied" in shown
    assert ", on a virtual GPU" in headline(summarise([of_virtual_gpu(train)]))
    for word in ("Host", "Share", "%", " ms", "Waiting includes"):
        assert word in render([recording(train)], width=140)
        assert word not in shown, word


def test_a_virtual_run_has_no_times_as_json(train, tmp_path, capsys):
    path = on_disk(tmp_path / "run.json", str(train))
    first, *events = path.read_text().splitlines(keepends=True)
    path.write_text("".join([json.dumps({**json.loads(first), "virtual": True}), "\n", *events]))
    assert report_main([str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["processes"][0]["virtual"] is True
    assert told["advice"] == []
    assert {row[key] for row in told["rows"] for key in ("host_us", "device_us", "share")} == {None}


def test_a_recording_under_a_virtual_gpu_says_so(tmp_path):
    import runtime_guard

    with runtime_guard.virtual_gpu(), runtime_guard.record(tmp_path / "run.json"):
        pass
    assert read(tmp_path / "run.json")[0].header.virtual
    with runtime_guard.record(tmp_path / "host.json"):
        pass
    assert not read(tmp_path / "host.json")[0].header.virtual
