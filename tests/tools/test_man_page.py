"""The manual page: what `man` and its checkers make of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from devicelint.cli.options.parser import COMMANDS
from devicelint.cli.options.vocabulary import commands
from tests.programs import program
from tools.man_page import PAGE, _escaped_line

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rendered() -> str:
    """The page as a terminal of 80 columns shows it."""
    program("groff")
    done = subprocess.run(
        [program("man"), "--local-file", "--warnings=w", str(ROOT / PAGE)],
        env={
            "MANWIDTH": "80",
            "LC_ALL": "C.UTF-8",
            "PATH": "/usr/bin:/bin",
            "MAN_KEEP_FORMATTING": "",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return re.sub(".\b", "", done.stdout)


def test_every_command_has_its_part(rendered):
    assert sorted(re.findall(r"^   devicelint (\w+)$", rendered, re.MULTILINE)) == sorted(COMMANDS)


def test_every_option_is_there(rendered):
    names = {name for command in commands() for option in command.options for name in option.names}
    assert [name for name in sorted(names) if name not in rendered] == []


def test_no_line_is_too_long_for_a_terminal(rendered):
    assert [line for line in rendered.splitlines() if len(line) > 80] == []


def test_examples_keep_their_hyphens(rendered):
    assert "  devicelint --fix --unsafe-fixes train.py\n" in rendered


def test_a_line_that_looks_like_a_request_is_text():
    assert _escaped_line(".devicelint.toml") == r"\&.devicelint.toml"
    assert _escaped_line("'quoted'") == r"\&'quoted'"
    assert _escaped_line(r"a\b -x") == r"a\eb \-x"


def test_mandoc_has_no_complaint():
    done = subprocess.run(
        [program("mandoc"), "-T", "lint", "-W", "error", str(ROOT / PAGE)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("", 0)
