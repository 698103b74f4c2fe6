"""Write what the tools of the MCP server answer in the conversation of docs/agents.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from devicelint.cli import in_one_line
from devicelint.cli.mcp import runs
from devicelint.cli.mcp.asked import ToolRequest
from devicelint.cli.mcp.folders import Folders
from devicelint.cli.mcp.results import Failed, ToolResult
from tools.consoles import in_an_empty_folder

PAGE = Path("docs/agents.md")

_SCRIPT = re.compile(r"^\$ cat (?P<name>\S+)\n(?P<text>.*?)^(?:\$|```)", re.DOTALL | re.MULTILINE)
_TURN = re.compile(
    r'^```json\n(?P<call>\{"tool": [^\n]*\})\n```\n\n```text\n(?P<answer>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)


class Turn(NamedTuple):
    """A tool that is called, and the text that it returns."""

    tool: str
    arguments: dict[str, Any]
    answer: str


def script(page: str) -> tuple[str, str]:
    """Return the name and the text of the file that the conversation is about."""
    shown = _SCRIPT.search(page)
    assert shown is not None
    return shown["name"], shown["text"]


def turns(page: str) -> list[Turn]:
    """Return the conversation that a page shows."""
    calls = ((json.loads(each["call"]), each["answer"]) for each in _TURN.finditer(page))
    return [Turn(call["tool"], call["arguments"], answer) for call, answer in calls]


def written(page: str) -> str:
    """Return the page with what the tools really answer, one after the other, in one folder."""
    name, text = script(page)
    with in_an_empty_folder():
        Path(name).write_text(text, encoding="utf-8")
        return _TURN.sub(_answered, page)


def _answered(turn: re.Match[str]) -> str:
    call = json.loads(turn["call"])
    answer = _answer(call["tool"], call["arguments"]).removesuffix("\n")
    return f"```json\n{turn['call']}\n```\n\n```text\n{answer}\n```"


def _answer(tool: str, arguments: dict[str, Any]) -> str:
    folders = Folders.of(())
    try:
        return _called(tool, arguments, folders).text
    except Failed as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - it is the answer
        return in_one_line(error)


def _called(tool: str, arguments: dict[str, Any], folders: Folders) -> ToolResult:
    if tool == "why":
        return runs.why(arguments["place"], arguments.get("source"), folders)
    if tool == "explain":
        return runs.explain(**arguments)
    by_name = {"check": runs.check, "fix": runs.fix, "adopt": runs.adopt}
    return by_name[tool](ToolRequest(**arguments), folders)
