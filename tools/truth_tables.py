"""Write the tables of docs/truth.md, which follow from what the judges have measured.

`benchmarks/figures` holds what each judge wrote with `--json`; the readings are their own ledger.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.halves import half_of
from benchmarks.readings.figures import Figures, judged, of_published
from benchmarks.readings.ledger import read_ledger
from tools.doc_tables import Table, markdown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "benchmarks/figures"
PAGE = Path("docs/truth.md")
HALVES = ("measure", "learn")
"""The columns: what to expect comes first."""
MOST_FEATURES, LEAST_RAISING = 12, 20
"""How many features are named, and how often something must have raised on a line of theirs."""

Measured: TypeAlias = Mapping[str, Any]


NOT_MEASURED = "*Not measured yet.*\n"


def read(name: str) -> Any:
    """What a judge has written."""
    return json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))


def once_measured(table: Callable[[], str], *names: str) -> Callable[[], str]:
    """The table, once there are the figures that it follows from."""

    def written() -> str:
        there = all((FIGURES / f"{name}.json").is_file() for name in names)
        return table() if there else NOT_MEASURED

    return written


def state() -> str:
    """When each judge was asked, and of which devicelint."""
    text = (FIGURES / "state.toml").read_text(encoding="utf-8")
    rows = (
        (name, entry["date"], f"`{entry['devicelint'][:8]}`", entry["note"])
        for name, entry in tomllib.loads(text).items()
    )
    return markdown(("Judge", "Measured on", "devicelint", "Sample"), rows)


def share(part: int, whole: int) -> str:
    """A part of a whole, and how many of 100 that is."""
    return f"{part:,} of {whole:,}, {100 * part / whole:.1f} %" if whole else "0"


def _columns(rows: Sequence[tuple[str, ...]], what: str) -> str:
    return markdown((what, "measuring half", "learning half"), rows)


def differential() -> str:
    """What generated programs say."""
    both = [read(f"differential-{half}") for half in HALVES]
    rows = [
        ("seeds", *(", ".join(map(str, each["seeds"])) for each in both)),
        ("programs", *(f"{each['programs']:,}" for each in both)),
        ("ran through on a machine", *(_of_programs(each, "passing") for each in both)),
        ("raised a device error on a machine", *(_of_programs(each, "raising") for each in both)),
        ("raised another error", *(_of_programs(each, "failing") for each in both)),
        (
            "**device errors missed**",
            *(f"**{share(each['missed'], each['raising'])}**" for each in both),
        ),
        ("…in 1,000 programs", *(f"{each['misses_per_thousand']}" for each in both)),
        (
            "**programs that ran, with a false alarm**",
            *(f"**{share(each['alarmed'], each['passing'])}**" for each in both),
        ),
        ("…in 1,000 programs", *(f"{each['false_alarms_per_thousand']}" for each in both)),
    ]
    return _columns(rows, "")


def _of_programs(figures: Measured, name: str) -> str:
    return share(figures[name], figures["programs"])


def features() -> str:
    """Of which features of the grammar the most errors are missed."""
    figures = read("differential-measure")
    raised, missed = figures["raising_at"], Counter(figures["missed_at"])
    often = {name: count for name, count in raised.items() if count >= LEAST_RAISING}
    worst = sorted(often, key=lambda name: (-missed[name] / often[name], name))[:MOST_FEATURES]
    rows = [
        (name, f"{often[name]:,}", f"{100 * missed[name] / often[name]:.0f} %") for name in worst
    ]
    return markdown(("Feature", "Errors on its lines", "Missed"), rows)


def agreement() -> str:
    """What real programs say."""
    halves = {each["name"]: each for each in read("agreement")["halves"]}
    both = [halves[half] for half in HALVES]
    rows = [
        ("packages, by their tests", *(str(each["packages"]) for each in both)),
        ("tests that passed", *(f"{each['tests']:,}" for each in both)),
        ("scripts", *(str(each["scripts"]) for each in both)),
        (
            "places that gave a tensor or a placed module",
            *(f"{_total(each, 'places'):,}" for each in both),
        ),
        ("how often they did", *(f"{_total(each, 'evaluations'):,}" for each in both)),
        ("**contradictions**", *(f"**{_contradicted(each)}**" for each in both)),
    ]
    levels = dict.fromkeys(level for each in both for level in each["places"])
    rows += [
        (level, *(share(each["places"].get(level, 0), _total(each, "places")) for each in both))
        for level in levels
    ]
    rows += [
        (f"attributes of modules: {name}", *(_owned(each, name) for each in both))
        for name in ("right", "unknown", "wrong", "unwalked")
    ]
    return _columns(rows, "")


def _total(figures: Measured, name: str) -> int:
    return sum(figures[name].values())


def _contradicted(figures: Measured) -> str:
    count, places = _total(figures, "contradictions"), _total(figures, "places")
    return f"{count:,}, {1000 * count / places:.1f} in 1,000" if places else "0"


def _owned(figures: Measured, name: str) -> str:
    counted = {each: sum(counts.values()) for each, counts in figures["owned"].items()}
    return share(counted.get(name, 0), sum(counted.values()))


def reasons() -> str:
    """Why expressions are unknown, of both halves together."""
    together: Counter[str] = Counter()
    for half in read("agreement")["halves"]:
        together.update(half["reasons"])
    every = together.total()
    rows = [
        (reason, f"{count:,}", f"{100 * count / every:.1f} %")
        for reason, count in together.most_common(30)
    ]
    return markdown(("Why a place is unknown, or partly so", "Places", "Share"), rows)


def mutants() -> str:
    """What moves that are taken out say."""
    halves = read("mutants")["halves"]
    both = [halves[half]["all"] for half in HALVES]
    rows = [
        ("mutants", *(f"{each['mutants']:,}" for each in both)),
        ("their line is run by no test", *(f"{each['not run']:,}" for each in both)),
        ("the tests pass without the move", *(f"{each['redundant']:,}" for each in both)),
        ("the tests fail otherwise", *(f"{each['otherwise']:,}" for each in both)),
        ("**harmful**", *(f"**{each['harmful']:,}**" for each in both)),
        *(
            (text, *(f"**{share(each[name], each['harmful'])}**" for each in both))
            for name, text in FATES.items()
        ),
    ]
    return _columns(rows, "")


FATES = {
    "found": "**…found**",
    "safe": "**…repaired by safe fixes: the tests pass again**",
    "all": "**…repaired by all fixes**",
}


def histories() -> str:
    """What people have fixed says."""
    figures = read("histories")
    both = [figures[half] for half in HALVES]
    rows = [
        ("fixes", *(str(each["cases"]) for each in both)),
        ("repositories", *(str(each["repositories"]) for each in both)),
        ("**mistakes found**", *(f"**{share(each['found'], each['cases'])}**" for each in both)),
        *(
            (f"…of evidence *{name}*", *(_found_of(each, name) for each in both))
            for name in ("api", "explicit", "module", "param", "cross-file", "library")
        ),
        ("fixes with a finding on a fixed line", *(str(each["false alarms"]) for each in both)),
    ]
    return _columns(rows, "")


def _found_of(figures: Measured, evidence: str) -> str:
    found, every = figures["by evidence"].get(evidence, (0, 0))
    return f"{found} of {every}"


def readings() -> str:
    """The ledger of first readings."""
    ledger = read_ledger()
    batches = [judged(batch, ledger).figures for batch in ledger.batches]
    rows = map(_reading, [*batches, *map(of_published, ledger.published)])
    return markdown(READING, rows)


READING = (
    "Read",
    "at",
    "Lines",
    "Findings",
    "Right",
    "Debatable",
    "Wrong",
    "Right in a million lines",
)


def _reading(figures: Figures) -> tuple[str, ...]:
    counts = figures.counts
    return (
        f"{figures.name}: {figures.repositories} repositories",
        f"`{figures.devicelint[:8]}`",
        f"{figures.lines:,}",
        str(counts.findings),
        share(counts.right, counts.findings),
        str(counts.debatable),
        str(counts.wrong),
        f"{figures.right_per_million or 0:.0f}",
    )


MINED = Path("benchmarks/histories/README.md")


def counts() -> str:
    """How many mined fixes there are, by half, and by what a reader says of each."""
    lines = (ROOT / "benchmarks/histories/cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    halves = [[case for case in cases if half_of(case["repo"]) == half] for half in HALVES]
    tables = [_counted(halves, "cases", lambda _: "all")]
    tables += [_counted(halves, key, itemgetter(key)) for key in CASE_FIELDS]
    return "\n".join(tables)


CASE_FIELDS = ("evidence", "effect", "world", "local", "alone", "kind")


def _counted(
    halves: Sequence[Sequence[Measured]], what: str, group: Callable[[Measured], object]
) -> str:
    counted = [Counter(str(group(case)) for case in cases) for cases in halves]
    names = [name for name, _ in sum(counted, Counter[str]()).most_common()]
    return _columns([(name, *(str(each[name]) for each in counted)) for name in names], what)


MEASURED = (
    (differential, "differential-measure", "differential-learn"),
    (features, "differential-measure"),
    (agreement, "agreement"),
    (reasons, "agreement"),
    (mutants, "mutants"),
    (histories, "histories"),
)
"""Each table, and the figures that it follows from."""

TABLES = (
    Table(PAGE, "state", state),
    *(Table(PAGE, table.__name__, once_measured(table, *names)) for table, *names in MEASURED),
    Table(PAGE, "readings", readings),
    Table(MINED, "counts", counts),
)
