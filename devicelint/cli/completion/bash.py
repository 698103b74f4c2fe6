"""Completion for bash, from 3.2 (that of macOS) on, without the package bash-completion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devicelint.cli.options.vocabulary import ArgumentKind, Command, OptionWord

_SCRIPT = """\
# Completion of devicelint for bash, written by `devicelint completion bash`.

_devicelint_rules='{rules}'

# The words of $1 that begin with what is being typed.
_devicelint_words() {{
    local IFS=$' \\t\\n'
    COMPREPLY=($(compgen -W "$1" -- "$cur"))
}}

# A rule at the end of a list with commas; the space after it is left to who types.
_devicelint_list() {{
    local IFS=$' \\t\\n' before=
    case "$cur" in *,*) before="${{cur%,*}}," ;; esac
    compopt -o nospace 2>/dev/null
    COMPREPLY=($(compgen -P "$before" -W "$_devicelint_rules" -- "${{cur##*,}}"))
}}

# Files with -f, folders with -d.
_devicelint_files() {{
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen "$1" -- "$cur"))
}}

_devicelint() {{
    local cur prev command options
    COMPREPLY=()
    cur="${{COMP_WORDS[COMP_CWORD]}}"
    prev="${{COMP_WORDS[COMP_CWORD-1]}}"
    # bash breaks --option=value into three words.
    if [ "$cur" = "=" ]; then
        cur=
    elif [ "$prev" = "=" ]; then
        prev="${{COMP_WORDS[COMP_CWORD-2]}}"
    fi
    command="${{COMP_WORDS[1]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        command=check
    fi
    case "$command" in
{cases}
    esac
    if [ "$COMP_CWORD" -eq 1 ] && [ "${{cur#-}}" = "$cur" ]; then
        local commands IFS=$'\\n'
        _devicelint_words '{commands}'
        commands=("${{COMPREPLY[@]}}")
        _devicelint_files -f
        COMPREPLY=("${{commands[@]}}" "${{COMPREPLY[@]}}")
    fi
}}

complete -F _devicelint devicelint
"""

_CASE = """\
        {pattern})
            options='{options}'
            case "$prev" in
{values}
                *)
                    case "$cur" in
                        -*) _devicelint_words "$options" ;;
                        *) {operand} ;;
                    esac
                    ;;
            esac
            ;;"""


def script(commands: Sequence[Command], rules: Sequence[str]) -> str:
    """Return what bash has to source."""
    # `check` is what is meant where no command is named: its case comes last.
    ordered = sorted(commands, key=lambda command: command.name == "check")
    return _SCRIPT.format(
        rules=" ".join(rules),
        commands=" ".join(command.name for command in commands),
        cases="\n".join(map(_case, ordered)),
    )


def _case(command: Command) -> str:
    words = command.operands[0] if command.operands else None
    return _CASE.format(
        pattern="*" if command.name == "check" else command.name,
        options=" ".join(name for option in command.options for name in option.names),
        values="\n".join(_values(command)),
        operand=_completion(words),
    )


def _values(command: Command) -> Iterator[str]:
    """What follows each option that takes something."""
    for option in command.options:
        if option.takes is not None:
            yield f"                {'|'.join(option.names)}) {_completion(option.takes)} ;;"


def _completion(word: OptionWord | None) -> str:
    if word is None:
        return ":"
    match word.kind:
        case ArgumentKind.CHOICE:
            return f"_devicelint_words '{' '.join(word.choices)}'"
        case ArgumentKind.RULE:
            return '_devicelint_words "$_devicelint_rules"'
        case ArgumentKind.RULES:
            return "_devicelint_list"
        case ArgumentKind.FILE:
            return "_devicelint_files -f"
        case ArgumentKind.FOLDER:
            return "_devicelint_files -d"
        case ArgumentKind.ANYTHING:
            return ":"
