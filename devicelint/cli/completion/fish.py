"""Completion for fish, with what each command and option is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devicelint.cli.options.vocabulary import ArgumentKind, Command, Option, OptionWord

_HEAD = """\
# Completion of devicelint for fish, written by `devicelint completion fish`.

# The command that is being typed: `check` where none is named.
function __devicelint_command
    set -l words (commandline -opc)
    if contains -- "$words[2]" {names}
        echo $words[2]
    else
        echo check
    end
end

function __devicelint_in
    test (__devicelint_command) = $argv[1]
end

function __devicelint_first
    test (count (commandline -opc)) -eq 1
end

function __devicelint_rules
    string split ' ' '{rules}'
end

function __devicelint_rule_list
    set -l before (string match -r '.*,' -- (string replace -r '^--[^=]*=' '' -- (commandline -ct)))
    for rule in (__devicelint_rules)
        echo "$before$rule"
    end
end

complete -c devicelint -e
"""


def script(commands: Sequence[Command], rules: Sequence[str]) -> str:
    """Return what a file `devicelint.fish` in a folder of completions holds."""
    head = _HEAD.format(names=" ".join(command.name for command in commands), rules=" ".join(rules))
    return head + "".join(f"complete -c devicelint {line}\n" for line in _lines(commands))


def _lines(commands: Sequence[Command]) -> Iterator[str]:
    for command in commands:
        yield f"-n __devicelint_first -a {command.name} -d {_quoted(command.summary)}"
    for command in commands:
        within = f"-n '__devicelint_in {command.name}'"
        # Files are offered by themselves, unless the command takes none.
        for word in command.operands or (None,):
            if takes := _operand(word):
                yield f"{within} {takes}"
        for option in command.options:
            yield f"{within} {_option(option)}"


def _operand(word: OptionWord | None) -> str:
    if word is None:
        return "-f"
    return "" if word.kind is ArgumentKind.FILE else _completion(word)


def _option(option: Option) -> str:
    names = [f"-l {name}" for name in option.long] + [f"-s {name}" for name in option.short]
    takes = [f"-r {_completion(option.takes)}"] if option.takes else []
    return " ".join([*names, *takes, "-d", _quoted(option.help)])


def _completion(word: OptionWord) -> str:
    match word.kind:
        case ArgumentKind.CHOICE:
            return f"-f -a '{' '.join(word.choices)}'"
        case ArgumentKind.RULE:
            return "-f -a '(__devicelint_rules)'"
        case ArgumentKind.RULES:
            return "-f -a '(__devicelint_rule_list)'"
        case ArgumentKind.FILE:
            return "-F"
        case ArgumentKind.FOLDER:
            return "-f -a '(__fish_complete_directories)'"
        case ArgumentKind.ANYTHING:
            return "-f"


def _quoted(text: str) -> str:
    """One word of the shell, whatever it holds."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
