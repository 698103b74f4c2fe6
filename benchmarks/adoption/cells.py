"""The code of a notebook as a script, for what only runs scripts."""

from __future__ import annotations

import json

NOT_PYTHON = ("%", "!", "?")


def text_of(data: bytes) -> str:
    """The code cells of a notebook, one after the other; what is for IPython alone, as comments."""
    notebook = json.loads(data)
    cells = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    return "\n".join(_plain(cell) for cell in cells) + "\n"


def _plain(cell: str) -> str:
    lines = cell.splitlines()
    if cell.lstrip().startswith("%%") and not cell.lstrip().startswith(("%%time", "%%capture")):
        return "\n".join(f"#{line}" for line in lines)
    return "\n".join(_masked(line) for line in lines)


def _masked(line: str) -> str:
    bare = line.lstrip()
    if not bare.startswith(NOT_PYTHON) and not bare.rstrip().endswith("?"):
        return line
    return f"{line[: len(line) - len(bare)]}pass  # {bare}"
