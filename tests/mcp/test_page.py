"""What docs/agents.md shows is what the server answers, and what clients read can be read."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from devicelint.cli.options.parsers import parser_of
from tests.mcp.agent import agent_in, text_of
from tools.agents_page import script, turns

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def conversation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("conversation")
    name, text = script(PAGE)
    (folder / name).write_text(text, encoding="utf-8")
    with agent_in(folder) as agent:
        return [(turn, text_of(agent.call(turn.tool, **turn.arguments))) for turn in turns(PAGE)]


def test_the_conversation_is_what_the_server_answers(conversation):
    assert len(conversation) >= 5
    for turn, answer in conversation:
        assert answer + "\n" == turn.answer


def test_each_registration_starts_the_server():
    configurations = [json.loads(text) for text in blocks("json") if '"tool"' not in text]
    named = [one.get("mcpServers") or one["servers"] for one in configurations]
    named += [tomllib.loads(text)["mcp_servers"] for text in blocks("toml")]
    assert len(named) == 3
    for servers in named:
        assert servers["devicelint"]["command"] == "devicelint"
        assert servers["devicelint"]["args"] == ["mcp"]
    parser_of("mcp").parse([])


def test_the_table_of_tools_has_every_argument(agent):
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE))
    told = {name: set(re.findall(r"`(\w+)`", words)) for name, words in rows.items()}
    for name, tool in agent.tools().items():
        expected = set(tool.input_schema["properties"])
        shown = told[name] | (told["check"] if name == "fix" else set())
        assert expected <= shown | {"section"}, name
        assert told[name] <= expected | {"mixed"} | {"DEV101"}, name


def test_the_instructions_for_agents_name_commands_that_there_are():
    (text,) = blocks("markdown")
    commands = re.findall(r"`devicelint ([^`]+)`", text)
    assert [words.split()[0] for words in commands] == ["--output-format", "why", "explain"]
