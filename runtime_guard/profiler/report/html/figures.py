"""The parts of the page that are looked at before they are read: where the time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from _device_pages.markup import Html, data, element, joined
from runtime_guard.profiler.recording.recording import Recording
from runtime_guard.profiler.report.html.timeline import Timeline, names
from runtime_guard.profiler.report.totals import Summary
from runtime_guard.profiler.report.words import amount, counted, duration, percent

KINDS = (
    ("sync", "waiting for a device"),
    ("copy", "copying"),
    ("index", "copying CPU indices"),
)

_LABEL = (
    "Timeline of copies and synchronisations. Left and right arrows move it, plus and minus zoom, "
    "0 shows the whole run."
)


def shares(summary: Summary) -> Html:
    """How the run's time was spent, as a bar and in words."""
    scale = 100 / max(1.0, summary.share)
    bars, words, left = [], [], 0.0
    for kind, label in KINDS:
        if share := summary.share_of(kind):
            width = round(share * scale, 3)
            bars.append(element("rect", class_=kind, x=left, width=width, height=1))
            words.append(_legend(kind, label, share))
            left += width
    words.append(_legend("rest", "everything else", max(0.0, 1 - summary.share)))
    bar = element(
        "svg",
        *bars,
        viewBox="0 0 100 1",
        preserveAspectRatio="none",
        class_="shares",
        aria_hidden="true",
    )
    return joined(bar, element("ul", *words, class_="legend"))


def _legend(kind: str, label: str, share: float) -> Html:
    return element("li", element("b", percent(share)), f" {label}", class_=kind)


def drawing(
    found: Timeline, recordings: Sequence[Recording], places: Mapping[tuple[str, int], str]
) -> Html:
    """The timeline: marks for the script, and in words for who cannot see it.

    Args:
        found: what to draw.
        recordings: where it is from.
        places: the identifiers of source lines in the page.
    """
    named = names(found.lanes, recordings)
    content = found.to_dict(named)
    content["anchors"] = [places.get(spot[:2], "") if spot else "" for spot in found.spots]
    words = [
        element("li", f"{name}: {counted(sum(mark.count for mark in marks), 'event')}")
        for name, marks in zip(named, found.marks, strict=True)
    ]
    canvas = element(
        "canvas", element("ul", *words), id="timeline", tabindex=0, role="img", aria_label=_LABEL
    )
    drawn = element("div", canvas, class_="drawing")
    caption = element("figcaption", _caption(found, recordings))
    return element("figure", drawn, caption, data("timeline-data", content))


def _caption(found: Timeline, recordings: Sequence[Recording]) -> str:
    """What is drawn, and what is not."""
    total = sum(tally.count for each in recordings for tally in each.totals.values())
    parts = ["The height of a bar is the part of its moment that went into it."]
    if any(lane.is_device for lane in found.lanes):
        parts.append("A device's part is drawn from the time of the call.")
    if found.slice:
        parts.append(
            f"{amount(found.events)} events are gathered in slices of "
            f"{duration(found.slice * 1e6)}."
        )
    if found.events < total:
        parts.append(f"{amount(total - found.events)} events are counted, and not kept to draw.")
    if found.hidden_lanes:
        parts.append(f"{counted(found.hidden_lanes, 'less busy lane')} not shown.")
    return " ".join(parts)
