"""The page: whole in one file, safe to open, and it runs."""

import base64
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from _device_pages.markup import data, element
from runtime_guard.profiler.recording.recording import RecordedEvent, Recording, Tally
from runtime_guard.profiler.report.html.page import render
from runtime_guard.profiler.report.html.python_code import highlighted
from runtime_guard.profiler.report.html.timeline import (
    MOST_EVENTS,
    MOST_LANES,
    MOST_MARKS,
    names,
    processes,
    timeline,
)
from tests.guard.sample_recording import HEADER, MISMATCH, TRAIN, ranks, recording, spot

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """A page as a browser sees it: elements, attributes, and text by element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"/{tag}")

    def handle_data(self, data):
        if self.open:
            self.texts.append((self.open[-1], data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, *tags: str) -> str:
        return "".join(text for tag, text in self.texts if not tags or tag in tags)

    def embedded(self):
        texts = iter(self.texts)
        return next(json.loads(text) for tag, text in texts if tag == "script")


@pytest.fixture
def train(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    return path


@pytest.fixture
def page(train):
    return Page(render([recording(str(train))]))


def test_every_element_is_closed_where_it_should_be(page):
    assert page.wrong == []


def dangling(page: Page) -> set[str | None]:
    """Links and labels that lead nowhere; an identifier must be there once."""
    identifiers = [found["id"] for _, found in page.elements if "id" in found]
    assert len(identifiers) == len(set(identifiers))
    links = {(found["href"] or "").removeprefix("#") for found in page.all("a")}
    labels = {found["aria-labelledby"] for _, found in page.elements if "aria-labelledby" in found}
    assert links
    return {*links, *labels} - set(identifiers)


def test_every_link_leads_to_a_place_in_the_page(page):
    assert not dangling(page)


def test_nothing_is_fetched_from_anywhere(train):
    text = render([recording(str(train))])
    assert not re.search(r"https?:|//[a-z]|@import|url\(", text)
    for tag, attributes in Page(text).elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert not {"src", "srcset", "action", "data"} & set(attributes)
        assert not any(name.startswith("on") or name == "style" for name in attributes)


def test_the_browser_is_told_to_run_our_script_alone(train):
    text = render([recording(str(train))])
    policy = Page(text).all("meta")[1]["content"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for element_name in ("style", "script"):
        content = re.search(rf"<{element_name}>(.*?)</{element_name}>", text, re.DOTALL)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{element_name}-src 'sha256-{digest}'" in policy


def test_what_the_timeline_draws_is_what_was_recorded(page, train):
    content = page.embedded()
    assert content["seconds"] == pytest.approx(0.1)
    assert [(lane["name"], lane["device"]) for lane in content["lanes"]] == [
        ("main thread", False),
        ("cuda:0", True),
    ]
    assert content["lanes"][0]["marks"][:2] == [
        [0, 1000, content["kinds"].index("copy"), 1, 1000, 1, 1000],
        [8000, 2000, content["kinds"].index("sync"), 0, 2000, 1, 4],
    ]
    assert len(content["lanes"][1]["marks"]) == 10
    assert content["spots"][1] == [str(train), 7, "Tensor.to", "cpu", "cuda:0"]
    identifiers = {found.get("id") for found in page.all("tr")}
    assert set(content["anchors"]) <= identifiers


def test_the_page_says_without_a_script_what_it_draws(page):
    assert "main thread: 20 events" in page.text("li")
    assert page.all("canvas")[0]["aria-label"]


def test_every_table_names_its_columns_and_every_source_line_its_number(page):
    assert all(found.get("scope") in {"col", "row"} for found in page.all("th"))
    numbers = [text for tag, text in page.texts if tag == "th" and text.isdecimal()]
    assert numbers == [str(number) for number in range(1, len(TRAIN.splitlines()) + 1)]


def test_costly_lines_are_marked_by_their_heat_and_the_devices_of_their_names(page, train):
    rows = {found["id"]: found for found in page.all("tr") if "id" in found}
    assert rows["f0-9"]["class"] == "known heat-6"
    assert rows["f0-7"]["class"] == "known heat-5"
    assert rows["f0-9"]["title"] == "Tensor.item, 10 times"
    chips = [found for found in page.all("span") if "several" in (found.get("class") or "")]
    assert [chip["title"] for chip in chips] == ["9 times on cuda:0\n1 times on cpu"]


def test_a_mismatch_is_told_at_its_line_too(page):
    assert page.text("span").count("layers.0 (Linear) got input (float32[4, 8]) on cpu") == 1
    assert page.text("p").count("layers.0 (Linear) got input (float32[4, 8]) on cpu") == 1
    assert "x = x.to(device)" in page.text("code")


NASTY = "<script>alert(1)</script><!--@@script@@\"'&\u2028\x1b[2J"


def test_nothing_that_a_recording_says_becomes_markup(tmp_path):
    folder = tmp_path / "<script>"
    folder.mkdir()
    path = folder / "<b>&amp;'\".py"
    path.write_text("x = '</script><script>alert(1)</script>'  # <img src=x>\ny = x\n" * 5)
    file = str(path)
    copy = spot(file, 1, op=NASTY, source=NASTY, target=f"{NASTY}:0")
    found = Recording(
        replace(HEADER, host=NASTY, argv=(NASTY,), torch=NASTY),
        {copy: Tally(1, 1, 1.0), replace(copy, file=NASTY): Tally(1, 1, 1.0)},
        (RecordedEvent(0.0, copy, 1, 1.0, 1.0, 1),),
        {(file, 1, NASTY): {NASTY: 1, "cpu": 1}},
        (dict.fromkeys(MISMATCH, NASTY) | {"failed_at": {"file": file, "line": 2}},),
        1,
    )
    text = render([found])
    page = Page(text)
    assert page.wrong == []
    assert len(page.all("script")) == 2
    assert not page.all("img")
    assert not page.all("b") or "amp" not in page.all("b")[0]
    assert "alert(1)</script>" not in text.replace(html.escape("alert(1)</script>"), "")
    assert page.embedded()["spots"][0][2] == NASTY
    assert "\x1b" not in page.text("h1", "p", "td", "code", "title")


def test_data_cannot_end_its_element_nor_begin_a_comment():
    content = {"</script>": ["<!--", "]]>", "&amp;", "\u2028", 'quote " and \\']}
    written = str(data("x", content))
    assert written.count("<") == 2
    assert "&" not in written
    body = written.removeprefix('<script type="application/json" id="x">')
    assert json.loads(body.removesuffix("</script>")) == content


def test_an_element_escapes_its_text_and_attributes():
    made = element("td", "a<b", element("b", "c"), None, class_='"x"', hidden=False, id=None)
    assert str(made) == '<td class="&quot;x&quot;">a&lt;b<b>c</b></td>'
    assert str(element("p", aria_label="x", hidden=True)) == '<p aria-label="x" hidden></p>'


def test_source_is_coloured_without_a_character_changed(train):
    lines = [*TRAIN.splitlines(), 's = f"{x} <b>"  # & more', '"""two', 'lines"""', "def (", ""]
    found = [str(line) for line in highlighted(lines)]
    plain = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in found]
    assert plain == lines
    assert '<span class="keyword">import</span> torch' in found
    assert found[-3] == '<span class="string">lines&quot;&quot;&quot;</span>'
    assert found[-5] == (
        's = <span class="string">f&quot;{</span>x<span class="string">} &lt;b&gt;&quot;</span>'
        '  <span class="comment"># &amp; more</span>'
    )


def test_source_that_is_no_python_is_coloured_after_the_mistake():
    found = [str(line) for line in highlighted(["x = (", "y = 'a", "import b"])]
    assert found[2] == '<span class="keyword">import</span> b'
    assert highlighted([]) == []


def test_a_file_that_is_gone_or_was_changed_is_said_to_be(train, tmp_path):
    assert "lines may have moved" not in render([recording(str(train))])
    os.utime(train, (5e9, 5e9))
    assert "The file has changed since the run" in render([recording(str(train))])
    train.write_text("x = 1\n")
    os.utime(train, (1e9, 1e9))
    assert "shorter than it was" in render([recording(str(train))])
    train.unlink()
    page = Page(render([recording(str(train))]))
    assert "The file is not where it was" in page.text("p")
    assert page.text("th").endswith("789")


def test_a_large_file_shows_what_is_near_the_recorded_lines(tmp_path):
    path = tmp_path / "large.py"
    path.write_text("x = 1  # a line like many others\n" * 20_000)
    text = render([recording(str(path))])
    assert len(text) < 200_000
    assert "lines 13 to 20000" in text


def test_more_events_than_one_can_draw_are_gathered_and_none_is_lost(train):
    many = recording(str(train), 30_000)
    found = timeline([many])
    marks = [mark for lane in found.marks for mark in lane]
    assert found.events == len(many.events) == 60_000
    assert len(marks) <= MOST_MARKS + MOST_LANES * 3
    host = [
        mark
        for lane, of_lane in zip(found.lanes, found.marks, strict=True)
        for mark in of_lane
        if not lane.is_device
    ]
    assert sum(mark.count for mark in host) == 60_000
    assert sum(mark.bytes for mark in host) == sum(event.bytes for event in many.events)
    assert sum(mark.busy for mark in host) == pytest.approx(90.0)
    text = render([many])
    assert len(text.encode()) < 2_000_000
    assert "60,000 events are gathered in slices of" in Page(text).text("figcaption")


def test_events_that_can_be_drawn_are_drawn_one_by_one(train):
    found = timeline([recording(str(train), MOST_EVENTS // 2)])
    assert found.slice == 0
    assert len(found.marks[0]) == MOST_EVENTS


def test_the_page_is_bounded_however_much_was_recorded(tmp_path):
    events, totals, values = [], {}, {}
    for number in range(20_000):
        file = str(tmp_path / f"file{number % 60}.py")
        where = spot(file, number % 2999 + 1, op=f"op{number}" * 5)
        events.append(RecordedEvent(number / 100, where, 1, 9e3, 5e3, number % 300))
        totals[where] = Tally(1, 1, 9e3, 5e3)
        values[file, number, "x" * 50] = {"cpu": 1, "cuda:0": 1}
    for number in range(60):
        (tmp_path / f"file{number}.py").write_text("x = '<&>'\n" * 3000)
    mismatches = tuple(MISMATCH | {"module": f"m{number}"} for number in range(2000))
    found = Recording(HEADER, totals, tuple(events), values, mismatches, 1)
    drawn = timeline([found])
    assert len(drawn.lanes) == MOST_LANES
    assert drawn.hidden_lanes == 301 - MOST_LANES
    text = render([found])
    assert len(text.encode()) < 2_000_000
    assert not dangling(Page(text))


def test_the_timeline_is_as_long_as_the_longest_recording(train):
    first = recording(str(train))
    other = replace(first, events=(), seconds=7.5)
    assert [timeline([each]).seconds for each in (first, other)] == [pytest.approx(0.1), 7.5]
    assert timeline([other, first]).seconds == 7.5


def test_a_line_where_a_model_is_entered_and_fails_is_named_once(train):
    found = recording(str(train))
    place = found.mismatches[0]["failed_at"]
    for entered_at, expected in ((None, 0), (place, 0), ({**place, "line": 7}, 1)):
        mismatches = (found.mismatches[0] | {"entered_at": entered_at},)
        text = Page(render([replace(found, mismatches=mismatches)])).text("p")
        assert text.count("failed at") == 1
        assert text.count("entered at") == expected


def test_lanes_are_named_by_rank_and_thread(train):
    both = ranks(str(train), 2)
    other = RecordedEvent(0.5, spot(str(train), 7), 1, 1.0, None, 99)
    first = replace(both[0], events=(*both[0].events, other))
    recordings = [first, both[1]]
    assert names(timeline(recordings).lanes, recordings) == [
        "rank 0, main thread",
        "rank 0, thread 2",
        "rank 0, cuda:0",
        "rank 1, main thread",
        "rank 1, cuda:1",
    ]


def test_a_child_that_has_the_rank_of_its_parent_is_told_from_it(train):
    first, _ = ranks(str(train), 2)
    child = replace(first, header=replace(first.header, pid=77))
    assert processes([first, child]) == ["rank 0", "process 77"]


def test_a_run_in_which_nothing_happened_has_a_page():
    page = Page(render([Recording(HEADER)]))
    assert page.wrong == []
    assert "No copies" in page.text("h1")
    assert not page.all("canvas")


CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


@pytest.fixture(scope="module")
def in_browser(tmp_path_factory):
    """The page as a browser has it after its script has run."""
    if CHROMIUM is None:
        pytest.skip("no chromium to open the page in")
    folder = tmp_path_factory.mktemp("page")
    source = folder / "train.py"
    source.write_text(TRAIN + "\n\n" + "x = 1\n" * 40)
    path = folder / "out.html"
    path.write_text(render(ranks(str(source), 2)))
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
    found = subprocess.run(
        [CHROMIUM, *options, "--virtual-time-budget=2000", "--dump-dom", path.as_uri()],
        capture_output=True,
        check=False,
        timeout=120,
    )
    if b"<html" not in found.stdout:
        pytest.skip(f"chromium does not start here: {found.stderr[-200:]!r}")
    return Page(found.stdout.decode())


def test_the_script_runs_to_its_end_in_a_browser(in_browser):
    assert in_browser.all("html")[0]["data-ready"] == "true"


def test_a_browser_draws_every_lane(in_browser):
    canvas = in_browser.all("canvas")[0]
    assert int(canvas["height"] or 0) > 4 * 50
    assert int(canvas["width"] or 0) > 300


def test_a_browser_gets_buttons_to_zoom_and_to_unfold(in_browser):
    labels = {found.get("aria-label") for found in in_browser.all("button")}
    assert {"Zoom in", "Zoom out", "Show the whole run"} <= labels
    assert "Show lines 13 to 52" in in_browser.text("button")
    assert any(
        found.get("class") == "quiet" and "hidden" in found for found in in_browser.all("tbody")
    )


def test_the_page_of_a_virtual_run_has_no_times(train):
    real = recording(str(train))
    page = render([replace(real, header=replace(real.header, virtual=True))])
    assert "On a virtual GPU nothing is copied" in page
    for part in ('id="timeline"', 'id="advice"', 'class="shares"', "Device: how long", ">Host<"):
        assert part in render([real]), part
        assert part not in page, part
