"""Malformed notebooks and Markdown pages."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from benchmarks.fuzz.accidents import mutated
from benchmarks.fuzz.programs import script


def _value(rng: random.Random) -> Any:
    return rng.choice(_VALUES)


_VALUES: Sequence[Any] = (
    None, True, 0, -1, 10**40, 1.5, float("nan"), "", "a\n", "\ud800", "%%bash\nls", [], {}, [None],
    ["x", 1], {"a": 1}, [["x"]], "import torch\nx = (", "%%time\nimport torch",
)  # fmt: skip


def cells_of(rng: random.Random, scripts: Sequence[bytes]) -> dict[str, Any]:
    """Return a sound notebook."""
    cells = []
    for _ in range(rng.randrange(5)):
        text = rng.choice(scripts).decode("utf-8", "replace")
        if rng.random() < 0.3:
            text = (
                rng.choice(("%%time\n", "%matplotlib inline\n", "!pip install x\n", "x?\n")) + text
            )
        source: Any = text if rng.random() < 0.5 else text.splitlines(keepends=True)
        kind = rng.choice(("code", "code", "code", "markdown", "raw"))
        cells.append(
            {
                "cell_type": kind,
                "metadata": {},
                "source": source,
                "outputs": [],
                "execution_count": 1,
            }
        )
    language = {"kernelspec": {"language": "python"}, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5}


def disturbed(rng: random.Random, value: Any) -> Any:
    """The same JSON, but for one value in it."""
    if rng.random() < 0.25 or not isinstance(value, (dict, list)) or not value:
        return _value(rng)
    if isinstance(value, list):
        place = rng.randrange(len(value))
        return [*value[:place], disturbed(rng, value[place]), *value[place + 1 :]]
    key = rng.choice(list(value))
    if rng.random() < 0.2:
        return {name: one for name, one in value.items() if name != key}
    return {**value, key: disturbed(rng, value[key])}


def _deep_json(rng: random.Random) -> bytes:
    times = int(10 ** rng.uniform(1, 5))
    opening, closing = rng.choice((("[", "]"), ('{"cells": ', "}"), ('{"cells": [', "]}")))
    return (opening * times + closing * rng.choice((times, 0))).encode()


def notebook(rng: random.Random, scripts: Sequence[bytes]) -> bytes:
    """Return what a file called `*.ipynb` may hold."""
    kind = rng.random()
    if kind < 0.05:
        return _deep_json(rng)
    if kind < 0.1:
        return script(rng, scripts)
    sound = cells_of(rng, scripts)
    if kind < 0.6:
        for _ in range(rng.choice((1, 1, 2, 3))):
            sound = disturbed(rng, sound)
    data = json.dumps(sound, indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5)
    written = data.encode("utf-8", "surrogatepass")
    return mutated(rng, written) if kind > 0.5 else written


def page(rng: random.Random, scripts: Sequence[bytes]) -> bytes:
    """Return what a file called `*.md` may hold."""
    fences = (b"```", b"~~~", b"````", b"   ```", b"``", b"> ```", b"")
    parts = [b"# Title\n"]
    for _ in range(rng.randrange(1, 4)):
        language = rng.choice((b"py", b"python", b"pycon", b"", b"py run", b"{.python}", b"toml"))
        fence = rng.choice(fences[:2]) if rng.random() < 0.7 else rng.choice(fences)
        end = fence if rng.random() < 0.8 else rng.choice(fences)
        parts.append(fence + language + b"\n" + script(rng, scripts) + b"\n" + end + b"\n")
    return b"".join(parts) if rng.random() < 0.5 else mutated(rng, b"".join(parts))
