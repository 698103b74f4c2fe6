"""The guide's section on moves: its script runs, and `mutate` and `prove` say what it shows."""

import json
import re
from pathlib import Path

import pytest

from runtime_guard.launcher.cli import main
from runtime_guard.mutation import command
from runtime_guard.mutation.mutation import VERDICTS

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "runtime_guard.md").read_text(encoding="utf-8")
SECTION = GUIDE.partition("\n## Which moves are needed\n")[2].partition("\n## ")[0]
SCRIPT = re.findall(r"^```py\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)[0]
SHOWN = re.findall(r"^```console\n\$ python -m (.*?)\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    Path("train.py").write_text(SCRIPT)


def test_two_commands_are_shown():
    assert [line.split()[1] for line, _ in SHOWN] == ["mutate", "prove"]


def test_mutate_says_what_the_guide_shows(capsys):
    line, text = SHOWN[0]
    assert main([*line.split()[1:-1], "--jobs", "2", "--json", "found.json", "train.py"]) == 1
    out, error = capsys.readouterr()
    assert error == ""
    assert out.strip() == text.strip()
    moves = json.loads(Path("found.json").read_text())["moves"]
    assert [(each["line"], each["column"], each["verdict"], each["same"]) for each in moves] == [
        (5, 24, "needed", None),
        (8, 25, "needed", None),
        (9, 27, "redundant", True),
        (9, 43, "redundant", True),
        (14, 17, "unreached", None),
    ]
    assert Path("train.py").read_text() == SCRIPT
    assert sorted(path.name for path in Path().iterdir()) == ["found.json", "train.py"]


def test_prove_says_what_the_guide_shows(capsys):
    line, text = SHOWN[1]
    assert main(line.split()[1:]) == 0
    out, error = capsys.readouterr()
    assert error == ""
    assert out.strip() == text.strip()


@pytest.mark.parametrize("parser", [command._mutate_parser(), command._prove_parser()])
def test_the_guide_names_every_option(parser):
    options = [option for option in parser._option_string_actions if option.startswith("--")]
    assert [each for each in options if f"`{each}" not in SECTION and each != "--help"] == []


def test_the_guide_names_every_verdict():
    assert [verdict for verdict in VERDICTS if f"`{verdict}`" not in SECTION] == []
