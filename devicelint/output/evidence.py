"""What is shown of a finding besides its message, in lines, for whoever is shown no code."""

from __future__ import annotations

from collections.abc import Iterator

from devicelint.finding import Certainty, Finding
from devicelint.output.visible import printable
from devicelint.text.source import SourceFile

CERTAINTIES = {
    Certainty.CERTAIN: "",
    Certainty.CONTRACT: "by contract: the caller chooses the device, and the code ignores it",
    Certainty.POSSIBLE: "possible: nothing shows that it is on another device",
    Certainty.BELIEF: "by belief: the code assumes the device without showing it",
}


def evidence(source: SourceFile, finding: Finding) -> Iterator[str]:
    """Yield the places that explain a finding, when it happens, and how it is fixed."""
    for related in dict.fromkeys(finding.related):
        line = source.location(related.span.start).line_text
        yield f"line {line}: {printable(related.message)}"
    for place in finding.elsewhere:
        yield f"{printable(place.where)}: {printable(place.message)}"
    if when := condition(finding):
        yield printable(when)
    if finding.fix is not None:
        yield f"fix: {printable(finding.fix.message)} ({finding.fix.safety.value})"


def condition(finding: Finding) -> str:
    """Return on which machine a finding holds, and how its devices are known; often nothing."""
    return "; ".join(filter(None, (finding.machine, CERTAINTIES[finding.certainty])))
