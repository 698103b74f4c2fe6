"""What docs/old-code.md shows is what happens, beside the Ruff that is installed, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.consoles import replayed

PAGE = Path(__file__).parents[2] / "docs" / "old-code.md"
SCRIPT = """\
import torch

x = torch.ones(2)
x.cuda()  # noqa: DEV104
x.cuda()  # noqa: DEV104, E501
x.cuda()  # devicelint: ignore[DEV104]
"""


def test_the_consoles_of_the_page():
    text = PAGE.read_text(encoding="utf-8")
    assert "$ ruff check" in text
    assert text == replayed(text)


def fixed_by_ruff(folder: Path, *words: str) -> str:
    script = folder / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--preview"]
    command += ["--fix", "--unsafe-fixes", "--quiet", *words, str(script)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return script.read_text(encoding="utf-8")


@pytest.mark.parametrize("rules", ["RUF100", "RUF100,RUF102,ERA,E,F"])
def test_ruff_leaves_the_codes_that_are_external(tmp_path, rules):
    words = ("--select", rules, "--config", 'lint.external = ["DEV"]')
    assert fixed_by_ruff(tmp_path, *words) == SCRIPT.replace("DEV104, E501", "DEV104")


def test_ruff_takes_them_out_where_they_are_not(tmp_path):
    after = fixed_by_ruff(tmp_path, "--select", "RUF100,RUF102")
    assert after == SCRIPT.replace("  # noqa: DEV104, E501", "").replace("  # noqa: DEV104", "")
