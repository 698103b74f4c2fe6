"""`devicelint map`: what a picture says of a file, and how it becomes a page safe to open."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note, settings

from devicelint.cli import main
from devicelint.finding import InputError
from devicelint.linter import lint
from devicelint.map import Map, draw, read_recording, render, together
from devicelint.map.amounts import amounts, size_text, time_text
from devicelint.map.model import Measure
from devicelint.text.source import SourceFile
from devicelint.views import show
from tests.torch_programs import programs

TIMES = "\N{MULTIPLICATION SIGN}"

SCRIPT = """\
import torch
from torch import nn

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def step(model, x):
    x = x.to(device)
    loss = model(x).sum()
    return loss.item()


model = nn.Linear(4, 2).to(device)
data = torch.rand(8, 4)
total = step(model, data)
mask = torch.ones(2)
masked = model(data.to(device)) * mask
data.cuda()
"""


def drawn(text: str, path: str = "train.py", run=None) -> Map:
    source = SourceFile.from_text(text, path)
    return draw(source, show.chart(source), lint.check(source).findings, run)


@pytest.fixture(scope="module")
def picture() -> Map:
    return drawn(SCRIPT)


def found(pattern: str, page: str) -> re.Match[str]:
    match = re.search(pattern, page, re.DOTALL)
    assert match is not None
    return match


def nodes(of: Map, view: int = 0) -> list[tuple[int, str, str]]:
    return [(one.line, one.name, of.lanes[one.lane].name) for one in of.views[view].nodes]


def arrows(of: Map, view: int = 0) -> list[tuple[int, str, str, str, str]]:
    return [
        (one.line, one.what, one.method, of.lanes[one.origin].name, of.lanes[one.target].name)
        for one in of.views[view].arrows
    ]


def test_a_lane_for_each_device_the_host_first(picture):
    assert [(lane.name, lane.group.value) for lane in picture.lanes] == [
        ("host", "host"),
        ("cpu", "cpu"),
        ("cuda", "accelerator"),
        ("cuda:0", "accelerator"),
    ]


def test_values_at_the_lines_that_name_them(picture):
    assert nodes(picture) == [
        (4, "device", "cuda:0"),
        (8, "x", "cuda:0"),
        (9, "loss", "cuda:0"),
        (10, "loss", "host"),
        (13, "model", "cuda:0"),
        (13, "nn.Linear(4, 2)", "cpu"),
        (14, "data", "cpu"),
        (16, "mask", "cpu"),
        (17, "masked", "cuda:0"),
        (17, "data", "cuda:0"),
    ]


def test_every_move_with_where_it_goes(picture):
    assert arrows(picture) == [
        (8, "x", "to", "cpu", "cuda:0"),
        (10, "loss", "item", "cuda:0", "host"),
        (13, "nn.Linear(4, 2)", "to", "cpu", "cuda:0"),
        (17, "data", "to", "cpu", "cuda:0"),
        (18, "data", "cuda", "cpu", "cuda"),
    ]


def test_a_move_joins_two_values(picture):
    view = picture.views[0]
    into_function, item, model, beside, lost = view.arrows
    assert view.nodes[into_function.result].name == "x"
    assert into_function.since == 14
    assert (view.nodes[item.source].line, view.nodes[item.result].line) == (9, 10)
    assert view.nodes[model.result].name == "model"
    assert (view.nodes[beside.source].line, view.nodes[beside.result].line) == (14, 17)
    assert [arrow.is_discarded for arrow in view.arrows] == [False, False, False, False, True]
    assert lost.result is None


def test_what_a_value_is_made_from(picture):
    view = picture.views[0]
    made = {
        (one.line, one.name): {view.nodes[number].name for number in one.inputs}
        for one in view.nodes
    }
    assert made[17, "masked"] == {"model", "data", "mask"}
    assert made[9, "loss"] == {"model", "x"}


def test_how_a_value_came_to_its_device(picture):
    stories = {(one.line, one.name): one.story for one in picture.views[0].nodes}
    assert stories[14, "data"] == "created on cpu here"
    assert stories[8, "x"] == "moved to cuda:0 here"


def test_findings_at_their_lines(picture):
    assert [(one.line, one.code) for one in picture.findings] == [
        (16, "DEV103"),
        (18, "DEV104"),
        (18, "DEV401"),
    ]
    assert picture.findings[0].parts == ((16, 7, 20),)
    assert [place.line for place in picture.findings[0].related] == [13, 17]


def test_the_functions_of_the_values():
    text = (
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        def inner():\n            return torch.ones(2)\n        y = torch.zeros(2)\n"
        "        self.kept = torch.rand(1)\n        return x\n"
    )
    of = drawn(text)
    assert [(one.name, one.function) for one in of.views[0].nodes] == [
        ("y", "Net.forward"),
        ("self.kept", "Net.forward"),
    ]


def test_a_loss_without_weights_is_nowhere():
    text = (
        "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\nlost = torch.nn.MSELoss().cuda()\n"
        "lost = torch.nn.L1Loss() if f() else torch.nn.MSELoss()\n"
        "loss = lost(model(torch.ones(2).cuda()), torch.ones(2).cuda())\n"
    )
    of = drawn(text)
    assert [name for _, name, _ in nodes(of)] == [
        *("model", "torch.nn.Linear(2, 2)", "loss"),
        *("torch.ones(2)", "torch.ones(2)", "torch.ones(2)", "torch.ones(2)"),
    ]
    assert [line for line, *_ in arrows(of)] == [2, 5, 5]


def test_a_part_that_is_moved_on_its_own_has_its_name():
    text = (
        "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
        "        self.one = torch.nn.Linear(2, 2)\n"
        "        self.two = torch.nn.Linear(2, 2).to('cuda:1')\n"
    )
    assert nodes(drawn(text)) == [
        (5, "self.two", "cuda:1"),
        (5, "torch.nn.Linear(2, 2)", "cpu"),
    ]


def test_each_machine_is_a_view():
    text = (
        "import torch\nx = torch.ones(2)\nif torch.cuda.is_available():\n    x = x.cuda()\n"
        "y = x + 1\n"
    )
    of = drawn(text)
    assert [view.machine for view in of.views] == ["with an accelerator", "without an accelerator"]
    assert nodes(of, 0)[-1] == (5, "y", "cuda")
    assert nodes(of, 1)[-1] == (5, "y", "cpu")
    assert (len(of.views[0].arrows), len(of.views[1].arrows)) == (1, 0)


def test_cells_of_a_notebook():
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Title"},
        *(
            {"cell_type": "code", "metadata": {}, "source": text, "outputs": []}
            | {"execution_count": None}
            for text in ("import torch\nx = torch.ones(2)", "%time\ny = x.cuda()")
        ),
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    of = drawn(text, "work.ipynb")
    assert [(line.cell, line.label.rpartition(":")[2], line.text) for line in of.lines] == [
        (2, "1", "import torch"),
        (2, "2", "x = torch.ones(2)"),
        (3, "1", "%time"),
        (3, "2", "y = x.cuda()"),
    ]
    page = render(of, SourceFile.from_text(text, "work.ipynb"))
    assert re.findall(r'id="cell-\d+">(.*?)<', page) == ["Cell 2", "Cell 3"]
    assert "<code>%time</code>" in page


def test_a_file_without_torch_is_drawn_as_well():
    of = drawn("print(1)\n")
    assert (of.lanes, of.findings, nodes(of)) == ((), (), [])
    page = render(of, SourceFile.from_text("print(1)\n"))
    assert "no findings" in page
    assert 'id="lanes"' not in page


def test_a_file_without_python_is_drawn_as_well():
    of = drawn("# Only words\n", "words.md")
    assert [view.machine for view in of.views] == ["on every machine"]
    assert "no moves" in render(of, SourceFile.from_text("# Only words\n", "words.md"))


@given(programs())
@settings(max_examples=20)
def test_whatever_a_picture_names_is_there(text):
    note(text)
    of = drawn(text)
    texts = {line.number: line.text for line in of.lines}
    lanes = range(len(of.lanes))
    for view in of.views:
        known = range(len(view.nodes))
        assert [node.id for node in view.nodes] == [*known]
        assert all(node.line in texts and node.lane in lanes for node in view.nodes)
        assert all(
            number in known and number != one.id for one in view.nodes for number in one.inputs
        )
        for arrow in view.arrows:
            assert arrow.line in texts
            assert arrow.origin in lanes
            assert arrow.target in lanes
            assert arrow.origin != arrow.target
            assert {arrow.source, arrow.result} <= {None, *known}
            assert arrow.source is None or view.nodes[arrow.source].lane == arrow.origin
            assert arrow.result is None or view.nodes[arrow.result].lane == arrow.target
        words = [(one.line, one.start, one.end) for one in view.words]
        assert all(0 <= start < end <= len(texts[line]) for line, start, end in words)
        assert all(one[:1] != two[:1] or one[2] <= two[1] for one, two in pairwise(words))
    assert render(of, SourceFile.from_text(text))


# -- the page ------------------------------------------------------------------------------

HOSTILE = """\
import torch
evil = "</script><script>alert(1)</script><!--"
x = torch.ones(2, device="cpu")  # <img src=x onerror=alert(1)> & &amp; \u202etxt\x07
names = {"<b>": x.cuda()}
"""


def test_nothing_of_the_source_is_markup():
    source = SourceFile.from_text(HOSTILE, "<svg onload=alert(1)>.py")
    page = render(drawn(HOSTILE, source.path), source)
    assert "alert(1)</script><!--" not in page
    assert "<img" not in page
    assert "<svg" not in page
    assert "\u202e" not in page
    assert "\x07" not in page
    assert page.count("<script") == page.count("</script>") == 2


def test_the_model_in_the_page_is_the_model(picture):
    page = render(picture, SourceFile.from_text(SCRIPT))
    written = found(r'<script type="application/json" id="map">(.*?)</script>', page)
    model = json.loads(written[1])
    assert model["path"] == "train.py"
    assert [lane["name"] for lane in model["lanes"]] == ["host", "cpu", "cuda", "cuda:0"]
    assert [arrow["line"] for arrow in model["views"][0]["arrows"]] == [8, 10, 13, 17, 18]
    assert not set("<>&") & set(written[1])


def test_the_text_is_there_without_a_script(picture):
    page = render(picture, SourceFile.from_text(SCRIPT))
    listing = found(r'<ol class="source".*?</ol>', page)[0]
    rows = re.findall(r'<li id="L\d+".*?<code>(.*?)</code>', listing, re.DOTALL)
    text = [re.sub(r"<[^>]*>", "", row) for row in rows]
    assert text[:2] == ["import torch", "from torch import nn"]
    assert text[12] == "model = nn.Linear(4, 2).to(device)"
    assert "created on the CPU" in re.sub(r"<[^>]*>", "", listing)


def test_a_page_asks_for_nothing(picture):
    page = render(picture, SourceFile.from_text(SCRIPT))
    assert "default-src 'none'" in page
    without_svg = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|url\(|@import|src=", without_svg)


def test_words_carry_their_device(picture):
    page = render(picture, SourceFile.from_text(SCRIPT))
    row = found(r'<li id="L9".*?</li>', page)[0]
    words = re.findall(r'<span class="word ([\w-]+)"[^>]*>(\w+)</span>', row)
    assert words == [("accelerator-1", "loss"), ("accelerator-1", "model"), ("accelerator-1", "x")]


# -- recordings ----------------------------------------------------------------------------

HEADER = {
    "type": "header", "format": 1, "started": 1.0, "pid": 1, "host": "h", "rank": None,
    "world_size": None, "argv": ["train.py", "--epochs", "3"], "python": "3", "torch": "2",
}  # fmt: skip


def spot(line, op, way, numbers, file="/other/machine/train.py", kind="copy"):
    count, size, host, device = numbers
    return {
        "kind": kind, "op": op, "from": way[0], "to": way[1], "file": file, "line": line,
        "function": "step", "count": count, "bytes": size, "host_us": host, "device_us": device,
    }  # fmt: skip


def lines_of(*content) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in content).encode()


TOTALS: dict[str, Any] = {
    "type": "totals",
    "at": 2.5,
    "steps": 40,
    "dropped": 0,
    "values": [],
    "spots": [
        spot(8, "Tensor.to", ("cpu", "cuda:0"), (40, 5120, 900.0, 120.0)),
        spot(10, "Tensor.item", ("cuda:0", "cpu"), (40, 160, 80_000.0, None), kind="sync"),
        spot(9, "float()", ("cuda:0", "cpu"), (3, 12, 5.0, None), kind="sync"),
        spot(8, "Tensor.to", ("cpu", "cuda:0"), (1, 1, 1.0, None), file="/elsewhere/data.py"),
    ],
}
END = {"type": "end", "at": 3.0, "reason": "end"}


def test_a_recording_is_laid_over_the_moves():
    run = read_recording(lines_of(HEADER, TOTALS, END), "run.jsonl").in_file("train.py")
    of = drawn(SCRIPT, run=run)
    assert of.run is not None
    measured = [
        (arrow.line, [of.run.measures[index].count for index in arrow.measures])
        for arrow in of.views[0].arrows
    ]
    assert measured == [(8, [40]), (10, [40]), (13, []), (17, []), (18, [])]
    assert (of.run.command, of.run.seconds, of.run.steps) == ("train.py --epochs 3", 3.0, 40)
    page = render(of, SourceFile.from_text(SCRIPT))
    assert f"40{TIMES} · 5.1 kB · 900 µs" in page
    assert f"3{TIMES} · 12 B · 5 µs" in page


def test_moves_of_one_line_are_measured_together():
    text = "import torch\nx, y = torch.ones(2), torch.ones(2)\nx, y = x.cuda(), y.cuda()\n"
    totals = {**TOTALS, "spots": [spot(3, "Tensor.cuda", ("cpu", "cuda:0"), (8, 1, 1, 1))]}
    run = read_recording(lines_of(HEADER, totals, END), "run.jsonl").in_file("train.py")
    assert [(one.measures, one.shared_by) for one in drawn(text, run=run).views[0].arrows] == [
        ((0,), (0, 1)),
        ((0,), (0, 1)),
    ]


def test_events_count_where_totals_are_not_there_yet():
    event = {**TOTALS["spots"][0], "type": "event", "at": 1.0, "step": 2, "thread": 1, "bytes": 8}
    run = read_recording(lines_of(HEADER, event, event), "run.jsonl").in_file("train.py")
    assert [(one.count, one.bytes) for one in run.measures] == [(2, 16)]
    assert not run.is_complete


def test_processes_of_a_run_add_up():
    one = read_recording(lines_of(HEADER, TOTALS, END), "run.jsonl")
    run = together([one, one]).in_file("train.py")
    assert [measure.count for measure in run.measures] == [80, 80, 6]
    assert run.measures[0].device_us == 240.0


def test_the_file_of_a_recording_is_found_by_its_path_or_its_end(tmp_path):
    here = str(tmp_path / "a" / "train.py")
    spots = [spot(1, "Tensor.to", ("cpu", "x"), (n, 1, 1, 1), file=f) for n, f in
             ((1, here), (2, "/data/b/train.py"), (3, "C:\\work\\c\\train.py"))]  # fmt: skip
    recording = read_recording(lines_of(HEADER, {**TOTALS, "spots": spots}), "r")
    counts = {
        path: [one.count for one in recording.in_file(path).measures]
        for path in (here, "b/train.py", "c/train.py", "z/train.py", "other.py")
    }
    assert counts == {
        here: [1], "b/train.py": [2], "c/train.py": [3], "z/train.py": [], "other.py": []
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "line", "told"),
    [
        (b"", 1, "it is empty"),
        (b"{}\n", 1, "there is no 'type'"),
        (b"import torch\n", 1, "Expecting value"),
        (lines_of(END), 1, "it begins with no header"),
        (lines_of({**HEADER, "format": 2}), 1, "format 2, where this version reads 1"),
        (lines_of(HEADER, {**TOTALS, "spots": [{}]}), 2, "there is no 'device_us'"),
        (lines_of(HEADER, {**TOTALS, "at": -1}), 2, '"at" is no number that can be'),
        (lines_of(HEADER, {**TOTALS, "spots": 3}), 2, "not iterable"),
        (b"[" * 100_000 + b"\n", 1, "recursion"),
    ],
)
def test_what_is_no_recording_is_told_with_its_line(data, line, told):
    with pytest.raises(InputError) as raised:
        read_recording(data, "run.jsonl")
    assert str(raised.value).startswith(f"run.jsonl:{line}:1: is no recording of runtime_guard: ")
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("size", "told"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (3_400_000, "3.4 MB"), (2 * 10**15, "2,000 TB")],
)
def test_sizes(size, told):
    assert size_text(size) == told


@pytest.mark.parametrize(("us", "told"), [(0.5, "0.5 µs"), (12_000, "12 ms"), (5e6, "5 s")])
def test_times(us, told):
    assert time_text(us) == told


def test_amounts_of_several_lines_add_up():
    one = Measure(1, "Tensor.to", "copy", "cpu", "cuda:0", 700, 2000, 10.0, 30.0)
    assert amounts([one, one]) == f"1,400{TIMES} · 4 kB · 60 µs"
    assert amounts([]) == ""


# -- the command ---------------------------------------------------------------------------


NO_RECORDING = "is no recording of runtime_guard: Expecting value: line 1 column 1 (char 0)"


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train é.py"
    path.write_text(SCRIPT, "utf-8")
    return path


def test_the_command_writes_a_page(script, capsys):
    assert main(["map", script.name, "--html", "out.html"]) == 0
    assert Path("out.html").read_text("utf-8").startswith("<!doctype html>")
    assert capsys.readouterr() == ("", "")


def test_the_page_may_go_to_standard_output(script, capsysbinary):
    assert main(["map", script.name, "--html", "-"]) == 0
    assert b"<title>train \xc3\xa9.py" in capsysbinary.readouterr().out


def test_settings_decide_which_findings_are_shown(script):
    Path("pyproject.toml").write_text('[tool.devicelint]\nignore = ["DEV104"]\n')
    main(["map", script.name, "--html", "out.html"])
    page = Path("out.html").read_text("utf-8")
    assert ("DEV103" in page, "DEV104" in page) == (True, False)
    main(["map", script.name, "--html", "out.html", "--select", "DEV104"])
    page = Path("out.html").read_text("utf-8")
    assert ("DEV103" in page, "DEV104" in page) == (False, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["train é.py"], "devicelint: the following arguments are required: --html\n"),
        (["none.py", "--html", "o"], "none.py:1:1: no such file or directory\n"),
        (["train é.py", "--html", "train é.py"],
         "devicelint: --html train é.py would write over train é.py\n"),
        (["train é.py", "--html", "model.py"],
         "devicelint: --html model.py would replace a program by a page\n"),
        (["train é.py", "--html", "broken.py/out.html"],
         "devicelint: --html broken.py/out.html: there is no folder broken.py\n"),
        (["train é.py", "--html", "o", "--recording", "none.jsonl"],
         "none.jsonl:1:1: cannot be read: No such file or directory\n"),
        (["train é.py", "--html", "o", "--recording", "train é.py"],
         f"train é.py:1:1: {NO_RECORDING}\n"),
        (["broken.py", "--html", "o"], "broken.py:1:6: syntax error: '(' was never closed\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_told_in_one_line(script, capsys, words, told):
    Path("broken.py").write_text("print(")
    assert main(["map", *words]) == 2
    assert capsys.readouterr() == ("", told)
    assert script.read_text("utf-8") == SCRIPT
    assert not Path("o").exists()


def test_a_recording_of_other_files_is_told_and_drawn_without(script, capsys):
    Path("run.jsonl").write_bytes(lines_of(HEADER, TOTALS, END))
    assert main(["map", script.name, "--html", "o", "--recording", "run.jsonl"]) == 0
    told = "devicelint: train é.py: run.jsonl recorded no moves in it, but in: data.py, train.py\n"
    assert capsys.readouterr().err == told
