"""What the README and the pages show is what devicelint says, takes and understands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli

import devicelint
from devicelint.cli.options.parser import COMMANDS
from devicelint.cli.options.parsers import parser_of
from devicelint.config import load_config
from devicelint.output.formats import text
from devicelint.rule_index import known_rules

ROOT = Path(__file__).parents[2]
SHOWN = "examples/broken/validation_not_moved.py"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/frameworks").glob("*.md")),
]
README = PAGES[0].read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def test_the_report_in_the_readme_is_the_real_one() -> None:
    checked = devicelint.check((ROOT / SHOWN).read_text(encoding="utf-8"), SHOWN)
    assert text.render(checked).startswith(blocks(README, "text")[0].rstrip("\n"))


def commands_of(page: Path) -> Iterator[list[str]]:
    """The words after `devicelint` of each line that is typed."""
    for block in blocks(page.read_text(encoding="utf-8"), "console"):
        for line in re.findall(r"^\$ .*", block, re.MULTILINE):
            words = shlex.split(line, comments=True)
            if words[:2] == ["$", "devicelint"]:
                ends = (index for index, word in enumerate(words) if word in {"|", ">", "<", "&&"})
                yield words[2 : next(ends, len(words))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_typed_on_a_page_is_understood(page: Path) -> None:
    for words in commands_of(page):
        command, rest = (words[0], words[1:]) if words[0] in COMMANDS else ("check", words)
        parser_of(command).parse(rest)


def test_the_readme_shows_what_to_type() -> None:
    assert len(list(commands_of(PAGES[0]))) >= 8


def test_the_settings_in_the_readme_are_settings(tmp_path) -> None:
    settings = "".join(blocks(README, "toml"))
    assert "[tool.devicelint]" in settings
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    load_config(tmp_path / "pyproject.toml", tmp_path, known_rules())


def test_what_is_to_be_installed_can_be() -> None:
    project = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for_developers = {"dev", "release", "test"}
    extras = {*project["optional-dependencies"]} - for_developers
    named = {
        extra.strip()
        for page in PAGES
        for extras in re.findall(r"devicelint\[([\w, ]+)\]", page.read_text(encoding="utf-8"))
        for extra in extras.split(",")
    }
    assert named - for_developers <= extras
    assert extras <= set(re.findall(r"devicelint\[(\w+)\]", README)), "the README names them all"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    targets = [link.partition("#")[0] for link in links]
    assert [
        each for each in targets if "://" not in each and not (page.parent / each).exists()
    ] == []
