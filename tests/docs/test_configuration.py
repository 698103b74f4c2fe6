"""What docs/configuration.md shows is what happens; its checked blocks are tests by themselves."""

from __future__ import annotations

import re
from pathlib import Path

from devicelint.config import SETTINGS, load_config
from devicelint.rule_index import known_rules
from tools.consoles import replayed

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_consoles_of_the_page():
    text = PAGE.read_text(encoding="utf-8")
    assert "$ devicelint config" in text
    assert text == replayed(text)


def test_the_settings_of_the_page_can_be_read(tmp_path):
    blocks = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 6
    for block in blocks:
        file = tmp_path / "devicelint.toml"
        file.write_text(block, encoding="utf-8")
        load_config(file, tmp_path, known_rules())


def test_every_key_is_documented():
    text = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"^\| `([a-z-]+)` \| .+ \| .+ \| .+ \|$", text, re.MULTILINE)
    assert shown == list(SETTINGS)
