"""The page of `devicelint map` in a browser: what stands where, and what happens to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.map.model import Measure, RecordedRun
from tests.map.test_picture import HOSTILE, SCRIPT, TIMES

LANES = """
    [...document.querySelectorAll(".scroller .lane")].map(lane => {
      const box = lane.getBBox();
      return [lane.classList[1], box.y, box.y + box.height];
    })
"""
NODES = """
    [...document.querySelectorAll(".scroller .node")].map(node => {
      const box = node.querySelector("rect").getBBox();
      return [node.querySelector("text").textContent, Number(node.getAttribute("href").slice(2)),
              box.x, box.y, box.width, box.height];
    })
"""
MOVES = """
    [...document.querySelectorAll(".scroller .move")].map(move => {
      const first = move.querySelector("path"), line = move.querySelector(".line");
      const start = first.getPointAtLength(0), end = line.getPointAtLength(line.getTotalLength());
      return [move.querySelector("title").textContent, start.x, start.y, end.x, end.y];
    })
"""
CROSSINGS = """
    [...document.querySelectorAll(".arrows .move")].map(move => {
      const line = move.querySelector(".line").getBoundingClientRect();
      const row = document.getElementById("L" + move.dataset.line).getBoundingClientRect();
      const tip = move.querySelector(".tip").getBoundingClientRect();
      return [Number(move.dataset.line), line.y > row.y && line.y < row.bottom,
              Math.sign(tip.x - line.x)];
    })
"""
WORDS = """
    [...document.querySelectorAll(given[0] + " .word")].map(word =>
      [word.textContent, getComputedStyle(word).color])
"""
KEPT = f"kept = {' + '.join(f'v{n}' for n in range(14))}\n"
BOTH = """\
import torch
x = torch.ones(2)
if torch.cuda.is_available():
    x = x.cuda()
y = x + 1
"""


def test_every_value_stands_on_its_lane(page):
    page.open(SCRIPT)
    lanes = {name: (top, bottom) for name, top, bottom in page.ask(LANES)}
    assert list(lanes) == ["host-0", "cpu-0", "accelerator-0", "accelerator-1"]
    on: dict[tuple[int, str], list[str]] = {}
    for name, line, _x, y, _width, height in page.ask(NODES):
        inside = [lane for lane, (top, end) in lanes.items() if top < y and y + height < end]
        on.setdefault((line, name), []).extend(inside)
    assert on[14, "data"] == ["cpu-0"]
    assert on[8, "x"] == ["accelerator-1"]
    assert on[10, "loss"] == ["host-0"]
    assert on[13, "nn.Linear(4, 2)"] == ["cpu-0"]
    assert on[18, "data"] == ["accelerator-0"]


@pytest.mark.parametrize(
    ("script", "count"),
    [
        (SCRIPT, 10),
        ("import torch\nx = torch.ones(2)\n" + "f(x.cuda(), x.cuda())\n" * 3, 7),
        ("import torch\n" + "".join(f"v{n} = torch.ones(2)\n" for n in range(14)) + KEPT, 15),
    ],
)
def test_no_value_covers_another(page, script, count):
    page.open(script)
    boxes = [(x, y, x + width, y + height) for _, _, x, y, width, height in page.ask(NODES)]
    assert len(boxes) == count
    assert not [
        (one, other)
        for one in boxes
        for other in boxes
        if one < other and one[0] < other[2] and other[0] < one[2]
        and one[1] < other[3] and other[1] < one[3]
    ]  # fmt: skip


def test_arrows_go_from_value_to_value(page):
    page.open(SCRIPT)
    boxes = {(line, name): box for name, line, *box in page.ask(NODES)}
    moves = {told: place for told, *place in page.ask(MOVES)}
    assert set(moves) == {
        "line 8: x goes from cpu to cuda:0 by .to()",
        "line 10: loss goes from cuda:0 to host by .item()",
        "line 13: nn.Linear(4, 2) goes from cpu to cuda:0 by .to()",
        "line 17: data goes from cpu to cuda:0 by .to()",
        "line 18: data goes from cpu to cuda by .cuda(), thrown away",
    }
    start_x, start_y, end_x, end_y = moves["line 10: loss goes from cuda:0 to host by .item()"]
    x, y, width, height = boxes[9, "loss"]
    assert (start_x, start_y) == (x + width, y + height / 2)
    x, y, width, height = boxes[10, "loss"]
    assert (end_x, end_y) == (pytest.approx(x, abs=2), y + height / 2)


def test_a_sum_stands_behind_what_is_added(page):
    page.open(Path("examples/broken/validation_not_moved.py").read_text("utf-8"))
    boxes = [(x, name) for name, line, x, *_ in page.ask(NODES) if line == 49]
    added = "criterion(outputs, targ…"
    assert [name for _, name in sorted(boxes)] == [added, added, "total_loss"]
    ((start_x, end_x),) = [(one[1], one[3]) for one in page.ask(MOVES) if added in one[0]]
    assert start_x < end_x


def test_a_crossing_in_the_margin_for_every_move(page):
    page.open(SCRIPT)
    right, left = 1, -1
    assert page.ask(CROSSINGS) == [
        [8, True, right], [10, True, left], [13, True, right], [17, True, right], [18, True, right]
    ]  # fmt: skip


def test_what_fails_is_dotted_red(page):
    page.open(SCRIPT)
    assert page.ask('document.querySelectorAll(".scroller .clash").length') == 1
    stroke = page.ask('getComputedStyle(document.querySelector(".clash")).stroke')
    assert stroke == "rgb(179, 38, 30)"


def test_dark_and_light(page):
    page.emulate("light")
    page.open(SCRIPT)
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.ask(background) == "rgb(255, 255, 255)"
    assert ["data", "rgb(160, 84, 0)"] in page.ask(WORDS, "#L14")
    page.emulate("dark")
    assert page.ask(background) == "rgb(19, 22, 26)"
    assert ["data", "rgb(240, 160, 60)"] in page.ask(WORDS, "#L14")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(page, scheme):
    page.emulate(scheme)
    page.open(SCRIPT)
    assert page.ask(FAINT) == []


FAINT = """
    (() => {
      const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
      const painted = (...colours) => {
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        return canvas.getImageData(0, 0, 1, 1).data;
      };
      const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const faint = [];
      for (const element of document.querySelectorAll("main *, header *")) {
        const own = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
        if (!own || element.closest("svg") || !element.checkVisibility()) continue;
        const papers = [];
        for (let at = element; at; at = at.parentElement) {
          papers.unshift(getComputedStyle(at).backgroundColor);
        }
        const [one, other] = [light(painted(...papers)),
                              light(painted(...papers, getComputedStyle(element).color))];
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) faint.push([element.textContent.slice(0, 20), contrast.toFixed(2)]);
      }
      return faint;
    })()
"""


def test_one_machine_at_a_time(page):
    page.open(BOTH)
    names = '[...document.querySelectorAll("#machine option")].map(one => one.textContent)'
    assert page.ask(names) == ["with an accelerator", "without an accelerator"]
    before = page.ask(WORDS, "#L5")
    assert page.ask("document.querySelectorAll('.scroller .move').length") == 1
    page.choose("#machine", 1)
    assert page.ask("document.querySelectorAll('.scroller .move').length") == 0
    assert [colour for _, colour in before] == ["rgb(0, 112, 78)"] * 2
    assert [colour for _, colour in page.ask(WORDS, "#L5")] == ["rgb(160, 84, 0)"] * 2
    assert "no moves" in page.ask('document.querySelector(".summary").innerText')


def test_a_value_shows_what_it_comes_from(page):
    page.open(SCRIPT)
    page.ask("document.querySelector('.node[aria-label^=\"data, line 17\"]').focus()")
    told = page.ask('document.getElementById("details").textContent')
    assert told.startswith("data, line 17: on cuda:0; from data; used for masked.")
    lit = page.ask('[...document.querySelectorAll(".node.lit text")].map(one => one.textContent)')
    assert sorted(lit) == ["data", "data", "masked"]
    rows = page.ask('[...document.querySelectorAll(".line.lit")].map(one => one.id)')
    assert rows == ["L14", "L17"]


def test_a_long_graph_begins_where_something_is_wrong_and_is_gone_through(page):
    before = "".join(f"def f{n}():\n    x = torch.ones({n})\n    return x\n" for n in range(30))
    page.open(f"import torch\n{before}model = torch.nn.Linear(2, 2).cuda()\nmodel(f0())\n")
    left = 'document.querySelector(".scroller").scrollLeft'
    assert page.ask(left) > 1000
    options = page.ask(
        '[...document.querySelectorAll("#functions option")].map(o => o.textContent)'
    )
    assert options == [*(f"f{n}()" for n in range(30)), "top level of train.py"]
    chosen = 'document.querySelector("#functions").value'
    page.settle()
    assert page.ask(f"Number({chosen})") > 1000
    page.choose("#functions", 9)
    x = page.ask('document.querySelectorAll(".scroller .node")[9].getBoundingClientRect().x')
    assert 350 < x < 500


LSTM = """\
import torch
from torch import nn
from torch.utils.data import DataLoader


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 64, 2)
        self.head = nn.Linear(64, 1)

    def forward(self, x):
        h0 = torch.zeros(2, x.size(1), 64)
        out, _ = self.lstm(x, (h0, h0))
        return self.head(out[-1])


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Forecaster().to(device)
for x in DataLoader(torch.randn(1024, 32, 8)):
    model(x.to(device))
"""
VISIBLE = """
    (() => {
      const room = document.querySelector(".scroller").getBoundingClientRect();
      return [...document.querySelectorAll(".scroller .node")].filter(node => {
        const box = node.querySelector("rect").getBoundingClientRect();
        return box.left >= room.left && box.right <= room.right
          && box.top >= 0 && box.bottom <= innerHeight;
      }).map(node => node.querySelector("text").textContent);
    })()
"""
SIDES = """
    ["left", "right"].map(side => [
      getComputedStyle(document.querySelector(".view"), side === "left" ? "::before" : "::after")
        .opacity,
      document.querySelector(`#sides [data-side=${side}]`).getAttribute("aria-disabled")])
"""


@pytest.mark.parametrize(("width", "height"), [(500, 1000), (360, 420), (1600, 1000)])
def test_what_fails_first_is_seen_at_once(page, width, height):
    notes = "import torch\ndef noted(x):\n    x.cuda()\n    return x\n"
    before = "".join(f"def f{n}():\n    z = torch.ones({n})\n    return z\n" for n in range(20))
    page.emulate("light", width, height)
    page.open(notes + before + LSTM)
    page.settle()
    seen = page.ask(VISIBLE)
    assert "h0" in seen
    assert "out" in seen
    assert page.ask("document.querySelector('.scroller .warning')") is not None


def test_a_graph_that_continues_fades_and_has_buttons(page):
    page.emulate("light", 500)
    page.open(LSTM)
    assert page.ask("document.querySelector('.scroller').scrollLeft") == 0
    page.settle()
    assert page.ask(SIDES) == [["0", "true"], ["1", "false"]]
    page.ask("document.querySelector('#sides [data-side=right]').focus()")
    for _ in range(9):
        page.press("\ue007")
        page.settle()
    assert page.ask(SIDES) == [["1", "false"], ["0", "true"]]
    page.ask("document.querySelector('#sides [data-side=left]').focus()")
    for _ in range(9):
        page.press(" ")
        page.settle()
    assert page.ask(SIDES) == [["0", "true"], ["1", "false"]]


def test_a_graph_that_fits_has_no_buttons(page):
    page.emulate("light", 1600)
    page.open("import torch\nx = torch.ones(2).cuda()\n")
    page.settle()
    assert not page.ask("document.getElementById('sides').checkVisibility()")
    assert page.ask(SIDES) == [["0", "true"], ["0", "true"]]
    page.emulate("light", 200)
    page.settle()
    assert page.ask("document.getElementById('sides').checkVisibility()")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [500, 1600])
def test_a_training_script_can_be_read(page, scheme, width):
    page.emulate(scheme, width)
    page.open(LSTM)
    assert page.ask(FAINT) == []
    assert page.ask("document.documentElement.scrollWidth") <= width
    cut = "[...document.querySelectorAll('.line code')].filter(c => c.scrollWidth > c.clientWidth)"
    assert page.ask(f"{cut}.length") == 0


def test_the_keyboard_goes_through_the_values(page):
    page.open(SCRIPT)
    stops = "[...document.querySelectorAll('.node')].filter(n => n.tabIndex === 0).length"
    assert page.ask(stops) == 1
    page.ask("document.querySelector('.node[tabindex=\"0\"]').focus()")
    focused = 'document.activeElement.getAttribute("aria-label")'
    first = page.ask(focused)
    assert first == "x, line 8, on cuda:0"
    page.press("\ue014")
    assert page.ask(focused) == "loss, line 9, on cuda:0"
    page.press("\ue013")
    assert page.ask(focused) == "x, line 8, on cuda:0"
    page.press("\ue010")
    assert page.ask(focused) == "data, line 18, on cuda, error"
    assert page.ask(stops) == 1
    page.press("\ue007")
    assert page.ask("location.hash") == "#L18"
    page.press("\ue00c")
    assert page.ask("document.querySelectorAll('.lit').length") == 0


def test_nothing_of_a_hostile_file_runs(page):
    page.open(HOSTILE, "<img src=x onerror=alert(1)>.py")
    assert page.ask("document.querySelectorAll('img, script').length") == 2
    assert page.ask("document.title").startswith("<img src=x onerror=alert(1)>.py")
    assert "</script>" in page.ask('document.querySelector("#L2").innerText')
    assert page.ask("document.querySelectorAll('.scroller .node').length") == 3


def test_a_run_is_laid_over_the_arrows(page):
    measures = (
        Measure(8, "Tensor.to", "copy", "cpu", "cuda:0", 40, 5120, 900.0, 120.0),
        Measure(10, "Tensor.item", "sync", "cuda:0", "cpu", 40, 160, 80_000.0, None),
    )
    page.open(SCRIPT, run=RecordedRun("train.py", 3.0, 40, measures, is_complete=True))
    amounts = page.ask(
        '[...document.querySelectorAll(".scroller .amount")].map(a => a.textContent)'
    )
    assert amounts == [f"40{TIMES} · 5.1 kB · 900 µs", f"40{TIMES} · 160 B · 80 ms"]
    widths = page.ask(
        '[...document.querySelectorAll(".scroller .move .line")]'
        ".map(line => parseFloat(getComputedStyle(line).strokeWidth))"
    )
    assert widths == [2.53, 7, 2.5, 2.5, 2.5]


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_a_narrow_window_is_not_scrolled_sideways(page, width):
    page.emulate("light", width)
    page.open(SCRIPT + f"text = '{'long ' * 60}'\n")
    assert page.ask("document.documentElement.scrollWidth") <= width


def test_on_paper_the_whole_graph_is_there(page):
    page.open(SCRIPT * 4)
    page.emulate("light", 800, print_=True)
    page.ask("dispatchEvent(new Event('beforeprint'))")
    wide = page.ask(
        '[...document.querySelectorAll(".sheet")].map(s => s.getBoundingClientRect().width)'
    )
    assert len(wide) > 1
    assert max(wide) <= 800


def test_without_a_script_the_source_is_there(page):
    page.open_without_scripts(SCRIPT)
    assert page.ask('document.querySelector(".line").innerText').strip().endswith("torch")
    assert page.ask('document.querySelectorAll(".ribbons i").length') > 10
    assert page.ask('[...document.querySelectorAll(".needs-script")].filter('
                    "one => one.checkVisibility()).length") == 0  # fmt: skip
