"""One page that needs nothing else: markup from the model, and the script that draws on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from _device_pages.frame import Frame, resource
from _device_pages.markup import Html, data, element, joined
from devicelint.map.amounts import amounts, time_text
from devicelint.map.highlighting import Part, highlighted
from devicelint.map.listing import SIGNS, colour, listing
from devicelint.map.model import Arrow, Map, RecordedRun, View
from devicelint.text.source import SourceFile

_SCRIPTS = ("dom.js", "lanes.js", "gutter.js", "scrolling.js", "page.js")
_FEW = 8
"""So many findings are listed at once."""

_FROM_SOURCE = ", from the source alone: nothing was run for it."


def render(of: Map, source: SourceFile) -> str:
    """The whole page of what was drawn of a file."""
    page = Frame(
        generator="devicelint",
        title=f"{PurePath(of.path).name} · devicelint map",
        heading=_heading(of),
        main=joined(*_sections(of, highlighted(source))),
        footer=element("p", "Made by ", element("code", "devicelint map"), _FROM_SOURCE),
        style=_data("page.css") + "".join(_geometry(len(of.lanes))),
        script=f'"use strict";\n(() => {{\n{"".join(map(_data, _SCRIPTS))}}})();\n',
        data=data("map", of.content()),
    ).render()
    return page.encode("utf-8", "replace").decode("utf-8")


def _geometry(lanes: int) -> Iterator[str]:
    """Where the lanes beside the source are; `gutter.js` draws on the same places."""
    yield f":root {{ --lanes: {lanes}; }}\n"
    for lane in range(lanes):
        yield f".at{lane} {{ left: calc(9px + {lane} * var(--step)); }}\n"


def _data(name: str) -> str:
    return resource("devicelint.map", name)


def _heading(of: Map) -> Html:
    path = PurePath(of.path)
    folder = "" if str(path.parent) == "." else f"{path.parent}/"
    return joined(
        element("p", folder, class_="folder") if folder else None,
        element("h1", path.name or of.path),
        element("p", *_summary(of), class_="summary"),
        _found(of),
        _ran(of.run) if of.run else None,
        element("div", _legend(of), _machines(of), class_="bar"),
    )


def _summary(of: Map) -> Iterator[Html]:
    counts = {name: sum(one.severity == name for one in of.findings) for name in SIGNS}
    for name, count in counts.items():
        if count:
            text = f"{count} {name}" if count == 1 else f"{count} {name}s"
            first = next(one for one in of.findings if one.severity == name)
            sign = element("span", SIGNS[name], class_="sign", aria_hidden="true")
            yield element("a", sign, text, class_=f"count {name}", href=f"#L{first.line}")
    if not of.findings:
        sign = element("span", "✓", class_="sign", aria_hidden="true")
        yield element("span", sign, "no findings", class_="count fine")
    for index, view in enumerate(of.views):
        moves = len(view.arrows)
        text = "1 move" if moves == 1 else f"{moves or 'no'} moves"
        yield element("span", text, class_="count", data_view=index, hidden=index > 0)


def _found(of: Map) -> Html | None:
    """Where each finding is; folded up where there are many."""
    if not of.findings:
        return None
    labels = {line.number: line.label for line in of.lines}
    entries = [
        element(
            "li",
            element("span", SIGNS[one.severity], class_=f"sign {one.severity}", aria_hidden="true"),
            element("a", f"line {labels.get(one.line, one.line)}", href=f"#L{one.line}"),
            f" {one.code} {one.name}",
        )
        for one in of.findings
    ]
    summary = element("summary", "Findings")
    listed = element("ul", *entries)
    return element("details", summary, listed, class_="found", open=len(entries) <= _FEW)


def _ran(run: RecordedRun) -> Html:
    steps = f", {run.steps:,} training steps" if run.steps else ""
    text = amounts(run.measures)
    share = sum(one.host_us for one in run.measures) / (run.seconds * 1e6) if run.seconds else 0
    spent = f", {share:.1%} of the time" if 0 < share <= 1 else ""
    within = f"{text}{spent}" if text else "nothing of it in this file"
    broken = "" if run.is_complete else "; the run had not ended"
    return element(
        "p",
        element("b", "Recorded run"),
        f" {time_text(run.seconds * 1e6)}{steps}: {within}{broken} ",
        element("code", run.command) if run.command else None,
        class_="ran",
    )


def _legend(of: Map) -> Html:
    entries = [
        element("li", element("span", lane.label, class_=f"chip {colour(lane)}"))
        for lane in of.lanes
    ]
    return element("ul", *entries, class_="legend", aria_label="Devices")


def _machines(of: Map) -> Html | None:
    if len(of.views) < 2:
        return None
    options = [
        element("option", view.machine.replace("`", ""), value=index)
        for index, view in enumerate(of.views)
    ]
    return element(
        "label",
        "Machine ",
        element("select", *options, id="machine"),
        class_="machines needs-script",
    )


def _sections(of: Map, parts: dict[int, list[Part]]) -> Iterator[Html]:
    if any(view.nodes or view.arrows for view in of.views):
        yield _lanes()
    yield element("section", element("h2", "Source"), listing(of, parts), aria_label="Source")
    for index, view in enumerate(of.views):
        if view.arrows:
            yield element(
                "section",
                element("h2", "Moves"),
                _table(of, view),
                aria_label="Moves",
                data_view=index,
                hidden=index > 0,
            )


def _lanes() -> Html:
    """The board on which the script draws lanes."""
    functions = element("select", id="functions")
    sides = [
        element("button", sign, type="button", data_side=side, aria_label=f"Scroll {side}")
        for side, sign in (("left", "←"), ("right", "→"))
    ]
    return element(
        "section",
        element(
            "div",
            element("h2", "Lanes"),
            element(
                "div",
                element("label", "Go to ", functions, class_="functions"),
                element("span", *sides, id="sides", class_="sides"),
                class_="ways",
            ),
            class_="bar",
        ),
        element(
            "div",
            element("div", id="lanes", class_="lanes"),
            element("div", id="sheets", class_="sheets", aria_hidden="true"),
            element("p", id="details", class_="details", role="status"),
            class_="board",
        ),
        class_="needs-script",
        aria_label="Lanes",
    )


def _table(of: Map, view: View) -> Html:
    titles = ["Line", "What", "By", "From", "To"] + (["Recorded"] if of.run else [])
    head = element("tr", *[element("th", title, scope="col") for title in titles])
    rows = [_table_row(of, arrow) for arrow in view.arrows]
    return element("table", element("thead", head), element("tbody", *rows))


def _table_row(of: Map, arrow: Arrow) -> Html:
    labels = {line.number: line.label for line in of.lines}
    origin, target = of.lanes[arrow.origin], of.lanes[arrow.target]
    call = f".{arrow.method}()"
    cells = [
        element("td", element("a", labels.get(arrow.line, ""), href=f"#L{arrow.line}")),
        element("td", element("code", arrow.what)),
        element("td", element("code", call), " thrown away" if arrow.is_discarded else None),
        element("td", element("span", origin.name, class_=f"chip {colour(origin)}")),
        element("td", element("span", target.name, class_=f"chip {colour(target)}")),
    ]
    if of.run:
        cells.append(element("td", arrow.amount or "not seen", class_="amount"))
    return element("tr", *cells)
