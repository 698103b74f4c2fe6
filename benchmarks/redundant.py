"""The moves that scripts do not need: taking one out is no mistake, and nothing is to be found.

They lie in `redundant_moves/OWNER+NAME.toml`, with the commit that was read and a reason for each:

    [[redundant]]
    file = "train.py"
    lines = [12, 40]
    column = 20         # where a line has other moves that are needed
    reason = "a loss without weights has nothing to move"
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.checkouts import Checkout, CheckoutError
from benchmarks.reviewed import path_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ANY = 0
"""The column that stands for every move of a line."""


class Reasons(dict[tuple[str, int, int], str]):
    """Why a move is redundant, by file, line and column."""

    def __missing__(self, key: tuple[str, int, int]) -> str:
        file, line, _ = key
        return super().get((file, line, ANY), "")


def reasons_for(folder: Path, checkout: Checkout) -> Reasons:
    """The redundant moves of a checkout; none, where there is no file about it.

    Raises:
        CheckoutError: the file is no such table, or is about another commit.
    """
    path = path_of(folder, checkout.name)
    reasons = Reasons()
    if not path.is_file():
        return reasons
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        if table["commit"] != checkout.commit:
            raise CheckoutError(
                f"{path} is about {table['commit'][:12]}, and {checkout.folder} is at"
                f" {checkout.commit[:12]}"
            )
        for each in table["redundant"]:
            for line in each["lines"]:
                reasons[each["file"], line, each.get("column", ANY)] = each["reason"]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise CheckoutError(f"{path}: {type(error).__name__}: {error}") from None
    return reasons
