"""What docs/editors.md tells people to write is what the server understands."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from devicelint.config.sureness import SURENESS
from devicelint.server.actions import ADOPT_COMMAND, FIX_ALL
from devicelint.server.settings import SETTINGS, ServerSettings, read_settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
PACKAGE = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def rows() -> dict[str, str]:
    """What each setting is without being set."""
    table = PAGE.partition("## Settings")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (`.+?) \|\s*(.*?)\s*\| ", table, re.MULTILINE)
    return {name: usual for names, usual in found for name in re.findall(r"`(\w+)`", names)}


def test_each_setting_has_its_row():
    assert set(rows()) == set(SETTINGS)


def test_the_defaults_are_those_of_the_server_and_of_the_extension():
    usual = {name: json.loads(told.strip("`")) for name, told in rows().items() if told}
    assert read_settings(usual, {}) == read_settings({}, {})
    properties = PACKAGE["contributes"]["configuration"]["properties"]
    differing = {
        name
        for name, value in usual.items()
        if properties[f"devicelint.{name}"]["default"] != value
    }
    assert differing == {"definition", "showSyntaxErrors"}
    for name in differing:
        assert "`false` in VS Code" in PAGE.partition(f"| `{name}` |")[2].partition("\n")[0]


def test_what_editors_read_can_be_read():
    for text in blocks("json"):
        json.loads(text)
    (helix,) = blocks("toml")
    assert tomllib.loads(helix)["language-server"]["devicelint"]["args"] == ["server"]


def test_actions_and_commands_are_called_as_they_are():
    assert FIX_ALL in PAGE
    assert ADOPT_COMMAND in PAGE


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_commands_of_the_extension_are_those_of_the_table():
    listed = re.findall(r"^\| \*(.+?)\* \|", section("VS Code"), re.MULTILINE)
    assert sorted(listed) == sorted(one["title"] for one in PACKAGE["contributes"]["commands"])
    readme = (ROOT / "editors" / "vscode" / "README.md").read_text(encoding="utf-8")
    assert [one for one in listed if f"*{one}*" not in readme] == []


def test_the_settings_of_the_extension_alone_are_those_of_its_table():
    found = re.findall(r"^\| `devicelint\.(.+?)` \| `(.+?)` \|", section("VS Code"), re.MULTILINE)
    properties = PACKAGE["contributes"]["configuration"]["properties"]
    own = {name.removeprefix("devicelint."): one["default"] for name, one in properties.items()}
    assert {name: json.loads(usual) for name, usual in found} == {
        name: usual for name, usual in own.items() if name not in SETTINGS
    }


def test_each_setting_of_the_extension_is_described_and_read_as_its_default_says():
    properties = PACKAGE["contributes"]["configuration"]["properties"]
    for name, one in properties.items():
        assert ("description" in one) != ("markdownDescription" in one), name
        assert len(one.get("enumDescriptions", ())) == len(one.get("enum", ())), name
        assert {"type", "scope", "order"} <= one.keys(), name
    usual = {name.split(".")[1]: one["default"] for name, one in properties.items()}
    settings, complaints = read_settings(usual, {})
    assert complaints == []
    assert settings == ServerSettings(definition=False, show_syntax_errors=False)


def test_the_extension_offers_each_degree_of_certainty():
    properties = PACKAGE["contributes"]["configuration"]["properties"]
    assert properties["devicelint.certainty"]["enum"] == [*SURENESS, None]
