"""Plug-ins that are none, told in one line."""

from __future__ import annotations

import ast
import pickle

import pytest

import devicelint
from devicelint import plugins
from devicelint.flake8_plugin import Plugin
from tests.plugins.plugging import RULE, RULE_PAGE, SCRIPT


class TestWhatIsNone:
    @pytest.mark.parametrize(
        ("files", "value", "message"),
        [
            ({}, "house", "cannot be loaded: ModuleNotFoundError: No module named 'house'"),
            (
                {"house.py": "1 / 0\n"},
                "house",
                "cannot be loaded: ZeroDivisionError: division by zero at house-rules/house.py:1",
            ),
            (
                {"house.py": "raise SystemExit(3)\n"},
                "house",
                "cannot be loaded: SystemExit: 3 at house-rules/house.py:1",
            ),
            (
                {"house.py": "x = 1\n"},
                "house",
                "house defines no rule: no class in it derives from",
            ),
            (
                {"house.py": "x = 1\n"},
                "house:x",
                "house:x is neither a module nor a class derived from Rule",
            ),
            ({"house.py": "x = 1\n"}, "house:y", "cannot be loaded: AttributeError: "),
        ],
    )
    def test_entry_points(self, installed, run, files, value, message):
        installed(files, value)
        status, out, error = run("train.py")
        assert (status, out) == (2, "")
        assert error.startswith(f'plug-in "house" (house-rules 1.0): {message}')
        assert error.count("\n") == 1

    @pytest.mark.parametrize(
        ("before", "after", "message"),
        [
            (
                "HSE101",
                "DEV999",
                "has the code DEV999, but codes that begin with DEV are devicelint's",
            ),
            ("HSE101", "DE1011", "must have a code of two or three capitals and three digits, not"),
            (
                "HSE101",
                "DE101",
                "has the code DE101, but codes that begin with DE are devicelint's",
            ),
            (
                "house-rule",
                "House",
                "must have a name of small words with hyphens between, not 'House'",
            ),
            ("Severity.WARNING", "'bad'", "must have a severity, a Severity, not 'bad'"),
            ("summary =", "sumary =", "must have a summary of one line, not None"),
            ("on_transfer", "transfer", "hears nothing: it has no method on_…"),
            (
                "on_transfer",
                "on_transfers",
                'has a method on_transfers, but there is no event Transfers; did you mean "Trans',
            ),
            (
                "    code",
                '    default = "yes"\n    code',
                "must be on by default, or not: default is",
            ),
            (
                "    code",
                "    def __init__(self, a): pass\n    code",
                "cannot be made without arguments: ",
            ),
        ],
    )
    def test_rules(self, installed, run, before, after, message):
        page = RULE_PAGE.replace(before, after)
        installed({"house.py": RULE.replace(before, after), "house_rule.md": page})
        status, out, error = run("train.py")
        assert (status, out) == (2, "")
        assert error.startswith(f'plug-in "house" (house-rules 1.0): house.House {message}')
        assert error.count("\n") == 1

    def test_a_page_is_required(self, installed, run):
        installed({"house.py": RULE})
        assert "house.House has no page: there is no file " in run("train.py")[2]

    def test_the_page_is_that_of_the_rule(self, installed, run):
        installed({"house.py": RULE, "house_rule.md": "# Something\n"})
        assert 'does not begin with "# house-rule (HSE101)": ' in run("train.py")[2]

    def test_two_distributions_do_not_share_letters(self, installed, run):
        installed({"one.py": RULE, "house_rule.md": RULE_PAGE}, "one", "one")
        other = RULE.replace("HSE101", "HS200").replace("house-rule", "other-rule")
        installed({"two.py": other, "other_rule.md": "# other-rule (HS200)\n"}, "two", "two")
        first, second = (f'plug-in "house" ({name} 1.0)' for name in ("one", "two"))
        told = f"{second}: has codes that begin with HS; {first} has those with HSE\n"
        assert run("train.py") == (2, "", told)

    def test_names_are_taken_once(self, installed, run):
        rule = RULE.replace("house-rule", "mixed-devices")
        installed({"house.py": rule, "mixed_devices.md": "# mixed-devices (HSE101)\n"})
        assert "two rules with a name or code of HSE101 mixed-devices" in run("train.py")[2]

    def test_every_front_end_says_so(self, installed, run):
        installed({})
        told = 'plug-in "house" (house-rules 1.0): cannot be loaded: ModuleNotFoundError: '
        for words in (
            ["rules"],
            ["explain", "DEV101"],
            ["--fix", "train.py"],
            ["adopt", "train.py"],
        ):
            assert run(*words)[0] == 2
        ((line, column, message, _),) = Plugin(
            ast.parse(""), "train.py", SCRIPT.splitlines(True)
        ).run()
        assert (line, column) == (1, 0)
        assert message.startswith(f"DEV900 {told}")
        with pytest.raises(devicelint.InputError, match="cannot be loaded"):
            devicelint.check(SCRIPT)

    def test_another_process_can_say_so(self):
        error = plugins.PluginError("house", "is broken")
        assert str(pickle.loads(pickle.dumps(error))) == str(error) == "house: is broken"

    def test_help_is_there_all_the_same(self, installed, run):
        installed({})
        assert run("--version")[0] == 0
        assert run("check", "--help")[0] == 0
