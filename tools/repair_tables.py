"""Write the tables about fixes: what they did to generated programs, which findings have one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from devicelint.rules import all_rules
from tools.doc_tables import Table, markdown
from tools.truth_tables import FIGURES, once_measured, read, share

MEASURED = FIGURES / "repairs.json"
"""What `python -m benchmarks.differential --fix … --json FILE` has written."""
LEAST = 20
"""A share of fewer findings than that says nothing."""


def outcome() -> str:
    """What became of generated programs when their safe fixes were made."""
    found = read("repairs")
    changed, raised, clean = found["changed"], found["raised"], found["clean"]
    rows = (
        ("seeds", ", ".join(map(str, found["seeds"]))),
        ("programs", f"{found['programs']:,}"),
        ("changed by safe fixes", share(changed, found["programs"])),
        (
            "**of these: ran worse on a machine, or with another loss**",
            share(found["harmed"], changed),
        ),
        ("raised a device error before", share(raised, changed)),
        ("of these: nothing left to report", share(clean, raised)),
        ("**of these: a device error all the same**", share(found["still_raising"], clean)),
    )
    return markdown(("", "measuring seeds"), rows)


def by_rule() -> str:
    """Which findings of the rules that are on have a fix, and why the others have none."""
    found = read("repairs") if MEASURED.is_file() else {"found": {}, "offered": {}}
    rows = (
        (f"{rule.code} {rule.name}", *_shares(found, rule.name), rule.unfixed)
        for rule in all_rules()
        if rule.default and rule.unfixed
    )
    return markdown(
        ("Rule", "Findings", "Safe fix", "Unsafe fix", "None", "Why some have none"), rows
    )


def _shares(found: dict[str, Any], name: str) -> tuple[str, ...]:
    """How many findings there were, and how many of 100 come with which fix."""
    count = found["found"].get(name, 0)
    if count < LEAST:
        return (str(count), "", "", "")
    safe, unsafe = (found["offered"].get(f"{name}, {kind}", 0) for kind in ("safe", "unsafe"))
    parts = (safe, unsafe, count - safe - unsafe)
    return (f"{count:,}", *(f"{100 * part / count:.0f} %" for part in parts))


TABLES = (
    Table(Path("docs/fixes.md"), "fixes by rule", by_rule),
    Table(Path("docs/truth.md"), "repairs", once_measured(outcome, "repairs")),
)
