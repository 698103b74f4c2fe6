"""How a fix chooses a device: by a type of accelerator, or by asking torch for the one there is."""

from __future__ import annotations

import re
from dataclasses import replace

from devicelint.finding import Edit

_CHOICE = re.compile(
    r"""(?P<made>\b(?P<torch>\w+)\.device\()?(?P<quote>["'])cuda(?P=quote)\ if\ (?P<test>[^\n]+?)"""
    r"""\ else\ (?P=quote)cpu(?P=quote)(?(made)\))""",
    re.VERBOSE,
)
_AVAILABLE = re.compile(r"(\w+)\.cuda\.is_available\(\)")


def by_accelerator(edit: Edit) -> Edit:
    """An edit, with what it chooses by `torch.cuda` chosen by `torch.accelerator`.

    That came with torch 2.6.
    """
    return replace(edit, content=_CHOICE.sub(_chosen, edit.content))


def _chosen(match: re.Match[str]) -> str:
    """The accelerator itself as a device, or its type as a string.

    >>> _CHOICE.sub(_chosen, '"cuda" if torch.cuda.is_available() else "cpu"').split(" if ")[0]
    'torch.accelerator.current_accelerator().type'
    """
    test, quote = match["test"], match["quote"]
    asked = _AVAILABLE.search(test)
    torch = match["torch"] or (asked[1] if asked else None)
    if torch is None:
        return match[0]
    there = f"{torch}.accelerator.is_available()"
    if asked:
        test = test.replace(asked[0], there)
    else:
        test = f"({test})" if " or " in test else test
        test = f"{test} and {there}"
    cpu = f"{quote}cpu{quote}"
    found = f"{torch}.accelerator.current_accelerator()"
    if match["made"]:
        return f"{found} if {test} else {torch}.device({cpu})"
    return f"{found}.type if {test} else {cpu}"
