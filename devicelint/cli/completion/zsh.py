"""Completion for zsh, with what each command and option is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devicelint.cli.options.vocabulary import ArgumentKind, Command, Option, OptionWord

_SCRIPT = """\
#compdef devicelint
# Completion of devicelint for zsh, written by `devicelint completion zsh`.

_devicelint_rules() {{
    local -a rules=({rules})
    compadd "$@" -a rules
}}

_devicelint_rule_list() {{
    _sequence _devicelint_rules
}}

_devicelint_commands() {{
    local -a commands=(
{commands}
    )
    _describe -t commands command commands
}}

{functions}
_devicelint() {{
    if (( CURRENT == 2 )) && [[ "${{words[2]}}" != -* ]]; then
        _alternative 'commands:command:_devicelint_commands' 'files:file:_files'
        return
    fi
    case "${{words[2]}}" in
        {names})
            local command="${{words[2]}}"
            shift words
            (( CURRENT-- ))
            "_devicelint-$command"
            ;;
        *) _devicelint-check ;;
    esac
}}

if [[ "${{funcstack[1]}}" == _devicelint ]]; then
    _devicelint "$@"
else
    compdef _devicelint devicelint
fi
"""


def script(commands: Sequence[Command], rules: Sequence[str]) -> str:
    """Return what a file `_devicelint` in a folder of `$fpath` holds."""
    return _SCRIPT.format(
        rules=" ".join(rules),
        commands="\n".join(
            f"        {_quoted(f'{command.name}:{command.summary}')}" for command in commands
        ),
        functions="\n".join(map(_function, commands)),
        names="|".join(command.name for command in commands),
    )


def _function(command: Command) -> str:
    lines = " \\\n".join(f"        {_quoted(spec)}" for spec in _specs(command))
    return f"_devicelint-{command.name}() {{\n    _arguments -S \\\n{lines}\n}}\n"


def _specs(command: Command) -> Iterator[str]:
    for option in command.options:
        yield from _option(option)
    for number, word in enumerate(command.operands, 1):
        place = "*" if word.repeated else str(number)
        yield f"{place}:{_plain(word.placeholder)}:{_completion(word)}"


def _option(option: Option) -> Iterator[str]:
    repeat = "*" if option.repeated else f"({' '.join(option.names)})"
    for name in option.names:
        # `--option=value` and `--option value`, `-ovalue` and `-o value`.
        joined = ("=" if name.startswith("--") else "+") if option.takes else ""
        takes = option.takes and f":{_plain(option.takes.placeholder)}:{_completion(option.takes)}"
        yield f"{repeat}{name}{joined}[{_bracketed(option.help)}]{takes or ''}"


def _completion(word: OptionWord) -> str:
    match word.kind:
        case ArgumentKind.CHOICE:
            return f"({' '.join(word.choices)})"
        case ArgumentKind.RULE:
            return "_devicelint_rules"
        case ArgumentKind.RULES:
            return "_devicelint_rule_list"
        case ArgumentKind.FILE:
            return "_files"
        case ArgumentKind.FOLDER:
            return "_path_files -/"
        case ArgumentKind.ANYTHING:
            return " "


def _plain(text: str) -> str:
    return text.replace(":", "\\:")


def _bracketed(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _quoted(text: str) -> str:
    """One word of the shell, whatever it holds."""
    return "'" + text.replace("'", "'\\''") + "'"
