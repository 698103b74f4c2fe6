"""What the help says of every command: in 80 columns, and nothing left out."""

from __future__ import annotations

import pytest

from devicelint import cli
from devicelint.cli.options import parser
from devicelint.cli.options.vocabulary import ArgumentKind, Command, commands

COMMANDS = sorted(parser.COMMANDS)


@pytest.fixture(autouse=True)
def _a_terminal_of_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_every_command_is_run_by_a_module():
    assert sorted(cli._HOMES) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_fits_80_columns(command, capsys):
    assert cli.main([command, "--help"]) == 0
    printed, complaints = capsys.readouterr()
    assert [line for line in printed.splitlines() if len(line) > 80] == []
    assert printed.startswith(f"usage: devicelint {command} [options]")
    assert complaints == ""


def test_the_usage_names_the_operands(capsys):
    assert cli.main(["check", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: devicelint check [options] [PATH ...]\n\n")
    assert cli.main(["why", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: devicelint why [options] FILE:LINE\n\n")


def test_the_overview_fits_80_columns_and_names_every_command(capsys):
    assert cli.main(["--help"]) == 0
    printed, _ = capsys.readouterr()
    assert [line for line in printed.splitlines() if len(line) > 80] == []
    table = printed.split("commands:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in table.splitlines()] == COMMANDS


def by_name(name: str) -> Command:
    (found,) = (command for command in commands() if command.name == name)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_and_operand_says_what_it_is_for(command):
    said = by_name(command)
    assert [option.names for option in said.options if not option.help] == []
    assert [word.placeholder for word in said.operands if not word.help] == []


def test_options_are_known_by_what_they_take():
    taken = {
        name: option.takes and option.takes.kind
        for option in by_name("check").options
        for name in option.names
    }
    assert taken["--fix"] is None
    assert taken["-q"] is None
    assert taken["--select"] is ArgumentKind.RULES
    assert taken["--config"] is ArgumentKind.FILE
    assert taken["--output-format"] is ArgumentKind.CHOICE
    assert taken["--prove-steps"] is ArgumentKind.ANYTHING


def test_only_what_nobody_can_guess_is_not_completed():
    taken = [option.takes for command in commands() for option in command.options if option.takes]
    free = {word.placeholder for word in taken if word.kind is ArgumentKind.ANYTHING}
    assert free == {"ARGS", "FORMAT=FILE", "N", "PATTERNS", "REF", "S", "X.Y"}


def test_operands_are_known_by_how_many_there_may_be():
    (paths,) = by_name("check").operands
    assert (paths.placeholder, paths.needed, paths.repeated) == ("PATH", False, True)
    (rule,) = by_name("explain").operands
    assert (rule.kind, rule.needed, rule.repeated) == (ArgumentKind.RULE, True, False)


def test_a_word_too_many_is_answered_with_the_usage(capsys):
    assert cli.main(["explain", "DEV101", "DEV102"]) == 2
    assert capsys.readouterr().err == (
        'devicelint: "DEV102" is one word too many: usage: devicelint explain [options] RULE\n'
    )


@pytest.mark.parametrize("command", [[], ["report"], ["mutate"], ["prove"]], ids=" ".join)
def test_the_help_of_the_guard_fits_80_columns(command, capsys):
    from runtime_guard.launcher.cli import main

    with pytest.raises(SystemExit) as left:
        main([*command, "--help"])
    printed = capsys.readouterr().out
    assert left.value.code == 0
    assert [line for line in printed.splitlines() if len(line) > 80] == []
    assert printed.startswith("usage: python -m runtime_guard")
