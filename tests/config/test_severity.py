"""How much findings matter, and that flake8 takes all settings as the command line does."""

from __future__ import annotations

import ast

import pytest

from devicelint.config import Config
from devicelint.finding import Severity
from devicelint.flake8_plugin import Plugin
from devicelint.rule_index import known_rules
from tests.config.test_extend import problem, write

KNOWN = known_rules()
LEVELS = '"error", "warning", "note" or "off"'


class TestSeverity:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ('DEV101 = "warn"', f'expected {LEVELS}, found "warn"; did you mean "warning"?'),
            ("DEV101 = false", "must be a string, not true or false"),
            ('DEV1O1 = "off"', 'no rule is called "DEV1O1"; did you mean "DEV101"?'),
        ],
    )
    def test_mistakes(self, tmp_path, text, told):
        path = write(tmp_path / "devicelint.toml", f"[severity]\n{text}\n")
        start, _, rest = problem(path).partition(f'"severity.{text[:6]}"')
        assert (start, rest.lstrip(": ")) == (f"{path}:2:1: ", told)

    def test_the_closest_entry_holds_and_of_equals_the_last(self):
        config = Config(
            severity=(
                ("DEV", Severity.NOTE),
                ("DEV101", Severity.ERROR),
                ("DEV1", Severity.WARNING),
                ("module-input-elsewhere", Severity.NOTE),
            )
        )

        def severity(code: str) -> Severity:
            return config.severity_of(code, KNOWN[code], Severity.ERROR)

        assert severity("DEV101") is Severity.NOTE
        assert severity("DEV102") is Severity.WARNING
        assert severity("DEV201") is Severity.NOTE

    @pytest.mark.parametrize(
        ("settings", "default", "is_on"),
        [
            ({"severity": (("DEV6", Severity.NOTE),)}, False, False),
            ({"severity": (("DEV601", Severity.NOTE),)}, False, True),
            ({"severity": (("create-then-move", Severity.ERROR),)}, False, True),
            ({"severity": (("DEV6", None),)}, True, False),
            ({"severity": (("DEV6", None), ("DEV601", Severity.NOTE))}, True, True),
            ({"severity": (("DEV6", None),), "select": ("DEV601",)}, True, True),
            ({"severity": (("DEV601", None),), "select": ("DEV601",)}, True, False),
            ({"severity": (("DEV601", Severity.NOTE),), "ignore": ("DEV6",)}, True, True),
            ({"severity": (("DEV601", Severity.NOTE),), "ignore": ("DEV601",)}, True, False),
        ],
    )
    def test_off_ignores_and_an_entry_for_a_rule_selects_it(self, settings, default, is_on):
        assert Config(**settings).selects("DEV601", "create-then-move", default=default) is is_on

    def test_what_the_command_line_selects_is_what_is_checked(self):
        config = Config(severity=(("DEV601", Severity.NOTE), ("DEV602", None)))
        config = config.with_command_line(select=["DEV602"])
        assert config.selects("DEV602", "sync-in-loop")
        assert not config.selects("DEV601", "create-then-move")


def test_flake8_honours_all_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = (
        "import torch\n"
        'device = torch.device("cuda")\n'
        "net = torch.nn.Linear(2, 2).to(device)\n"
        "net(torch.zeros(2))\n"
        "y = torch.ones(2).to(device)\n"
        "y.cpu()\n"
        'device == "cuda"\n'
    )

    def codes(path: str) -> set[str]:
        plugin = Plugin(ast.parse(""), path, script.splitlines(keepends=True))
        return {message.split()[0] for _, _, message, _ in plugin.run()}

    write(tmp_path / "base.toml", '[severity]\nDEV1 = "warning"\nDEV4 = "note"\nDEV6 = "warning"\n')
    write(
        tmp_path / "sub" / "devicelint.toml",
        'extend = "../base.toml"\nextend-select = ["create-then-move"]\n'
        '[per-file-ignores]\n"old" = ["DEV103"]\n',
    )
    assert codes("plain/train.py") == {"DEV103", "DEV104", "DEV405"}
    assert codes("sub/train.py") == {"DEV103", "DEV104", "DEV601"}
    assert codes("sub/old/train.py") == {"DEV104", "DEV601"}
