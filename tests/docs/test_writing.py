"""What users read keeps to docs/writing.md: no word that the guide bans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from devicelint.cli.options.parser import COMMANDS, overview
from devicelint.cli.options.parsers import parser_of
from devicelint.rule_index import all_facts
from runtime_guard.launcher import cli
from runtime_guard.mutation import command as mutation
from runtime_guard.profiler.report import command as report
from tools.writing import PAGE, Word, uses, words

ROOT = Path(__file__).parents[2]
_RULES = re.compile(r"^<!-- rules: begin.*?^<!-- rules: end -->", re.DOTALL | re.MULTILINE)


def pages() -> Iterator[Path]:
    """The pages that people write; those of the rules are checked where they are written."""
    yield ROOT / "README.md"
    for folder in ("docs", "docs/frameworks", "devicelint/rules", "changelog.d"):
        yield from sorted((ROOT / folder).glob("*.md"))


def texts() -> Iterator[tuple[str, str]]:
    """All that is checked, by its name."""
    for page in pages():
        name = page.relative_to(ROOT).as_posix()
        if name != "docs/rules.md":
            yield name, _written(page)
    yield "devicelint --help", overview()
    for command in sorted(COMMANDS):
        yield f"devicelint {command} --help", parser_of(command).format_help()
    guard = {
        "": cli._parser(),
        " report": report._parser(),
        " mutate": mutation._mutate_parser(),
        " prove": mutation._prove_parser(),
    }
    for command, parser in guard.items():
        yield f"runtime_guard{command} --help", parser.format_help()
    yield "summaries of rules", "\n\n".join(facts.summary for facts in all_facts())


def _written(page: Path) -> str:
    """The page, without the table of the rules, and of the guide itself without its tables."""
    text = _RULES.sub("", page.read_text(encoding="utf-8"))
    if page == ROOT / PAGE:
        return "\n".join("" if line.startswith("|") else line for line in text.splitlines())
    return text


TEXTS = dict(texts())


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_has_no_banned_word(name: str) -> None:
    assert [f"{name}:{use}" for use in uses(TEXTS[name])] == []


BANNED = [word for word in words() if word.banned]


@pytest.mark.parametrize("word", BANNED, ids=lambda word: word.avoid)
def test_a_ban_finds_what_it_is_for_and_nothing_else(word: Word) -> None:
    assert word.banned is not None
    assert word.found
    assert word.fine
    assert [text for text in word.found if not word.banned.search(text)] == []
    assert [text for text in (*word.fine, word.use) if word.banned.search(text)] == []


def test_code_is_left_out_and_lines_are_kept() -> None:
    text = "It is `mended`.\n\n```py\nmend()\n```\n[mended](mended.md), it\nis\ntold.\n"
    assert [str(use) for use in uses(text)] == [
        '6: "mended": use fix',
        '7: "is told": use is reported; the message says',
    ]


def test_the_guide_has_twenty_pairs() -> None:
    guide = (ROOT / PAGE).read_text(encoding="utf-8")
    tables = re.findall(
        r"^\| Before \| After \|\n\| --- \| --- \|\n((?:\|.*\n)+)", guide, re.MULTILINE
    )
    assert sum(table.count("\n") for table in tables) == 20
