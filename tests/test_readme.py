"""What the README shows is what devicelint says."""

from __future__ import annotations

import re
from pathlib import Path

import devicelint
from devicelint.reporters import text

ROOT = Path(__file__).parent.parent
SHOWN = "examples/broken/validation_not_moved.py"


def test_the_report_in_the_readme_is_the_real_one() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    checked = devicelint.check((ROOT / SHOWN).read_text(encoding="utf-8"), SHOWN)
    assert text.render(checked).startswith(block[1].rstrip("\n"))
