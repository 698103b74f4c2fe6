"""Does to a source what an advice of the guard says, to the letter."""

from __future__ import annotations

import ast
import re

_PLACE = r"\S*?:(?P<line>\d+)"
_BEFORE = re.compile(rf"write (?P<codes>`.+?`(?: and `.+?`)*) before {_PLACE}(?:: .*)?")
_AT = re.compile(rf"write `(?P<code>\w[^`]* = [^`]*)` at {_PLACE}")
_CREATION = re.compile(
    rf"write `(?P<argument>device=[^`]*)` in the call that makes it, at {_PLACE}"
)
_IN_PLACE = re.compile(rf"write `(?P<code>[^`]*)` in place of `(?P<old>[^`]*)` at {_PLACE}")
_IN_CALL = re.compile(r"write `(?P<code>(?P<old>\w+)\.cpu\(\))` in the call.*")
_MODEL = re.compile(r"write `(?P<code>(?P<model>[\w.]+)\.to\([^`]*\))` (?:where|after the last) .*")


def advices_of(story: str) -> list[str]:
    """The advices in a message whose lines were joined."""
    return re.findall(r"to fix it: (.+?)(?= to fix it: | on [\w:]+: |$)", story)


def follow(text: str, advice: str, failed: int) -> str:
    """The source after the advice was followed; the error was at line `failed`.

    Raises:
        AssertionError: it does not say what to write, or where.
    """
    lines = text.splitlines()
    if match := _BEFORE.fullmatch(advice):
        _insert(lines, int(match["line"]), re.findall("`(.+?)`", match["codes"]))
    elif match := _AT.fullmatch(advice):
        line = int(match["line"])
        lines[line - 1] = _indent(lines[line - 1]) + match["code"]
    elif match := _CREATION.fullmatch(advice):
        line = int(match["line"])
        lines[line - 1] = _with_argument(lines[line - 1], match["argument"])
    elif match := _IN_PLACE.fullmatch(advice) or _IN_CALL.fullmatch(advice):
        line = int(match.groupdict().get("line") or failed)
        assert match["old"] in lines[line - 1], advice
        lines[line - 1] = lines[line - 1].replace(match["old"], match["code"])
    elif match := _MODEL.fullmatch(advice):
        made = [
            n for n, line in enumerate(lines) if line.lstrip().startswith(match["model"] + " = ")
        ]
        assert made, f"nothing makes it: {advice}"
        lines[made[-1]] += f"; {match['code']}"
    else:
        raise AssertionError(f"nobody can follow this: {advice}")
    return "\n".join(lines) + "\n"


def _insert(lines: list[str], line: int, codes: list[str]) -> None:
    while re.match(r"\s*(elif|else|except|finally)\b", lines[line - 1]):
        line -= 1
    indent = _indent(lines[line - 1])
    lines[line - 1 : line - 1] = [indent + code for code in codes]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _with_argument(line: str, argument: str) -> str:
    """The line with one more argument in its first call of a function of torch's."""
    indent = _indent(line)
    code = line[len(indent) :]
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and re.fullmatch(r"torch\.\w+", ast.unparse(node.func)):
            end = (node.end_col_offset or 0) - 1
            comma = ", " if node.args or node.keywords else ""
            return f"{indent}{code[:end]}{comma}{argument}{code[end:]}"
    raise AssertionError(f"no call makes a tensor here: {line}")
