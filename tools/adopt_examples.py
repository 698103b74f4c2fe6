"""Write what `devicelint adopt` makes of `examples/adopt/*/before.*` beside it, as `after.*`."""

from __future__ import annotations

from pathlib import Path

from devicelint.linter.lint import adopt
from devicelint.text.source import SourceFile

EXAMPLES = Path("examples/adopt")


def run(root: Path, *, check: bool) -> int:
    """Write the examples that are not what adoption makes, or name them; return the status."""
    stale = 0
    for before in sorted((root / EXAMPLES).glob("*/before.*")):
        adopted = adopt(SourceFile.from_bytes(before.read_bytes(), str(before))).after.to_bytes()
        after = before.with_name(f"after{before.suffix}")
        if after.is_file() and after.read_bytes() == adopted:
            continue
        stale = 1
        path = after.relative_to(root).as_posix()
        if check:
            print(f"{path}: not what adoption makes of it; run `make generate`")
        else:
            after.write_bytes(adopted)
            print(f"{path}: written")
    return stale if check else 0
