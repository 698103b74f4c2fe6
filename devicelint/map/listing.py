"""The source of a page: numbered lines, the lanes that each touches, and what was found there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from _device_pages.markup import Html, element, joined
from devicelint.map.amounts import amounts
from devicelint.map.highlighting import Part
from devicelint.map.model import Arrow, Found, Lane, Line, Map, Node, Place, View, Word

_T = TypeVar("_T", Arrow, Node, Word)

SIGNS = {"error": "✕", "warning": "!", "note": "i"}


def listing(of: Map, parts: dict[int, list[Part]]) -> Html:
    """All lines, with their findings below them."""
    found: dict[int, list[Found]] = {}
    for one in of.findings:
        found.setdefault(one.line, []).append(one)
    rows = _Rows(of, parts)
    return element("ol", *rows.all(found), class_="source", aria_label="Source")


class _Rows:
    def __init__(self, of: Map, parts: dict[int, list[Part]]) -> None:
        self._map = of
        self._parts = parts
        self._words = [_by_line(view.words) for view in of.views]
        self._arrows = [_by_line(view.arrows) for view in of.views]
        self._nodes = [_by_line(view.nodes) for view in of.views]
        self._lanes = [view.lanes_by_line() for view in of.views]
        self._wrong: dict[int, list[Part]] = {}
        for one in of.findings:
            for line, start, end in one.parts:
                self._wrong.setdefault(line, []).append((start, end, f"at-{one.severity}"))

    def all(self, found: dict[int, list[Found]]) -> Iterator[Html]:
        """Every row, in the order of the text."""
        cell = None
        for line in self._map.lines:
            if line.cell is not None and line.cell != cell:
                cell = line.cell
                yield element("li", f"Cell {cell}", class_="cell", id=f"cell-{cell}")
            yield self._row(line, found.get(line.number, ()))
            for one in found.get(line.number, ()):
                yield _card(one)

    def _row(self, line: Line, found: Sequence[Found]) -> Html:
        worst = next((name for name in SIGNS if any(one.severity == name for one in found)), None)
        number = line.label.rpartition(":")[2]
        return element(
            "li",
            element("span", *self._ribbons(line.number), class_="ribbons", aria_hidden="true"),
            element("a", number, class_="number", href=f"#L{line.number}"),
            element("code", *self._code(line)),
            element("span", *self._notes(line.number), class_="notes"),
            id=f"L{line.number}",
            class_=f"line {worst}" if worst else "line",
        )

    def _ribbons(self, line: int) -> Iterator[Html]:
        """One mark for each lane that the line touches, on each machine."""
        for index, lanes in enumerate(self._lanes):
            for lane in sorted(lanes.get(line, ())):
                place = self._map.lanes[lane]
                yield _only_in(index, "i", class_=f"{colour(place)} at{lane}")

    def _notes(self, line: int) -> Iterator[Html]:
        for index in range(len(self._map.views)):
            notes = [*self._noted(index, line)]
            if notes:
                yield _only_in(index, "span", *notes)
        run = self._map.run
        if run is not None:
            measured = amounts([one for one in run.measures if one.line == line])
            if measured:
                yield element("span", measured, class_="measured")

    def _noted(self, index: int, line: int) -> Iterator[Html]:
        arrows = self._arrows[index].get(line, [])
        for arrow in arrows:
            yield self._moved(arrow, self._map.views[index])
        drawn = {arrow.result for arrow in arrows}
        passed_over = ("unnamed", "host") if arrows else ()
        for node in self._nodes[index].get(line, []):
            if node.id not in drawn and node.kind not in passed_over:
                yield self._placed(node)

    def _moved(self, arrow: Arrow, view: View) -> Html:
        origin, target = self._map.lanes[arrow.origin], self._map.lanes[arrow.target]
        lost = " thrown-away" if arrow.is_discarded else ""
        return element(
            "span",
            element("b", self._name_of(arrow, view)),
            " ",
            element("span", origin.name, class_=f"chip {colour(origin)}"),
            " → ",
            element("span", target.name, class_=f"chip {colour(target)}"),
            " thrown away" if lost else None,
            class_=f"note move{lost}",
        )

    def _name_of(self, arrow: Arrow, view: View) -> str:
        """What is moved; where that has no name, what it is called from then on."""
        if arrow.what.isidentifier() or arrow.result is None:
            return arrow.what
        return view.nodes[arrow.result].name

    def _placed(self, node: Node) -> Html:
        lane = self._map.lanes[node.lane]
        return element(
            "span",
            element("b", node.name),
            " ",
            element("span", lane.name, class_=f"chip {colour(lane)}"),
            class_="note",
            title=node.story or None,
        )

    def _code(self, line: Line) -> Iterator[Html]:
        """The text, cut wherever something begins or ends."""
        size = len(line.text)
        marks = [(start, min(end, size), kind) for start, end, kind in self._marks(line.number)]
        words = [
            (index, word)
            for index, of in enumerate(self._words)
            for word in of.get(line.number, [])
        ]
        cuts = {0, size, *(cut for start, end, _ in marks for cut in (start, end))}
        cuts |= {cut for _, word in words for cut in (word.start, word.end)}
        ordered = sorted(cut for cut in cuts if cut <= size)
        for start, end in pairwise(ordered):
            kinds = [kind for begin, stop, kind in marks if begin <= start and end <= stop]
            here = [(i, word) for i, word in words if word.start <= start and end <= word.end]
            yield self._piece(line.text[start:end], kinds, here)

    def _marks(self, line: int) -> list[Part]:
        return [*self._parts.get(line, ()), *self._wrong.get(line, ())]

    def _piece(self, text: str, kinds: Sequence[str], words: Sequence[tuple[int, Word]]) -> Html:
        if not kinds and not words:
            return joined(text)
        if not words:
            return element("span", text, class_=" ".join(kinds))
        by_view = {view: word.lanes for view, word in words}
        shown = [self._map.lanes[lane] for lane in by_view.get(0, ())]
        places = (by_view.get(view, ()) for view in range(len(self._map.views)))
        return element(
            "span",
            text,
            class_=" ".join([*kinds, "word", *(colour(lane) for lane in shown[-1:])]),
            data_places=";".join(",".join(map(str, lanes)) for lanes in places),
            title=" or ".join(lane.name for lane in shown) or None,
        )


def _by_line(ones: Iterable[_T]) -> dict[int, list[_T]]:
    found: dict[int, list[_T]] = {}
    for one in ones:
        found.setdefault(one.line, []).append(one)
    return found


def _only_in(view: int, tag: str, *content: Html, class_: str | None = None) -> Html:
    """Something that belongs to one machine alone; at first, the first one is shown."""
    return element(tag, *content, class_=class_, data_view=view, hidden=view > 0)


def colour(lane: Lane) -> str:
    """The class of a lane's colour."""
    return f"{lane.group.value}-{lane.colour % 4}"


def _card(found: Found) -> Html:
    card = element(
        "div",
        element(
            "p",
            element("span", SIGNS[found.severity], class_="sign", aria_hidden="true"),
            element("b", f"{found.code} {found.name}"),
            element("span", found.severity, class_="severity"),
            element("span", *_with_code(found.machine), class_="machine")
            if found.machine
            else None,
        ),
        element("p", *_with_code(found.message)),
        *[element("p", _place(one), class_="related") for one in found.related],
        element("p", element("b", "Fix: "), *_with_code(found.fix), class_="fix")
        if found.fix
        else None,
        class_=f"finding {found.severity}",
    )
    return element("li", card, class_="below")


def _place(place: Place) -> Html:
    where = (
        element("span", place.label)
        if place.line is None
        else element("a", place.label, href=f"#L{place.line}")
    )
    return joined(where, ": ", *_with_code(place.message))


def _with_code(message: str) -> Iterator[Html]:
    """A message as it is written elsewhere, with code between backticks."""
    for index, part in enumerate(message.split("`")):
        yield element("code", part) if index % 2 else joined(part)
