"""What readers say of candidates, taken as cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.checkouts import CheckoutError, git

EVIDENCE = frozenset({"api", "explicit", "module", "param", "cross-file", "library"})
EFFECTS = frozenset({"error", "silent", "old-torch"})
WORLDS = frozenset({"gpu", "cpu-only", "multi-gpu"})
FIELDS = (
    *("id", "repo", "fix_commit", "file", "buggy_lines", "fixed_snippet_lines", "kind"),
    *("evidence", "local", "world", "effect", "alone", "why"),
)
"""What a case says, in this order; `alone`: the commit changed nothing else in the file."""


def cases_from(
    candidates: Iterable[Mapping[str, Any]], read: Iterable[Mapping[str, Any]], mirror: Path
) -> Iterator[dict[str, Any]]:
    """Yield a case for each candidate that a reader keeps, in the order of their names.

    Raises:
        CheckoutError: what was read is no case, or of no candidate.
    """
    offered = {each["id"]: each for each in candidates}
    kept = {each["id"]: each for each in read if each["keep"]}
    for name in sorted(kept, key=str.lower):
        if name not in offered:
            raise CheckoutError(f"{name} was not offered")
        case = _case(offered[name], kept[name])
        problem = next(problems_of(case), None) or next(_outside(case, mirror), None)
        if problem:
            raise CheckoutError(f"{name}: {problem}")
        yield case


def _case(offered: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    joined = {**offered, **kept, "alone": offered["whole"]}
    for side in ("buggy_lines", "fixed_snippet_lines"):
        joined[side] = sorted(set(joined[side]))
    return {field: joined[field] for field in FIELDS}


def problems_of(case: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the form of a case."""
    if tuple(case) != FIELDS:
        yield f"its fields are not {', '.join(FIELDS)}"
        return
    for field, known in (("evidence", EVIDENCE), ("effect", EFFECTS), ("world", WORLDS)):
        if case[field] not in known:
            yield f"{field} is {case[field]}"
    for field in ("buggy_lines", "fixed_snippet_lines"):
        if not case[field] or min(case[field]) < 1:
            yield f"{field} is {case[field]}"
    why = str(case["why"])
    if not why.endswith(".") or "\n" in why or not why[:1].isupper():
        yield "the reason is no sentence"
    if case["local"] and case["evidence"] == "cross-file":
        yield "what another file shows is not local"


def _outside(case: Mapping[str, Any], mirror: Path) -> Iterator[str]:
    """Yield the sides on which a line is named that the file does not have."""
    repository = mirror / case["repo"].replace("/", "+") / "repo"
    for commit, field in (("^", "buggy_lines"), ("", "fixed_snippet_lines")):
        text = git(repository, "show", f"{case['fix_commit']}{commit}:{case['file']}")
        if max(case[field]) > len(text.splitlines()):
            yield f"{case['file']} has no line {max(case[field])}"


def rows(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the objects of files with one object a line.

    Raises:
        CheckoutError: a line is none.
    """
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise CheckoutError(f"{path}:{number}:{error.colno}: {error.msg}") from None
