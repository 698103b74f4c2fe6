"""`devicelint config`: what applies to a file, and where that is written."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from devicelint.cli import main
from devicelint.config import SETTINGS
from devicelint.rule_index import known_rules
from tests.config.test_extend import write

KNOWN = known_rules()


class TestCommand:
    @pytest.fixture
    def run(self, tmp_path, monkeypatch, capfd):
        monkeypatch.chdir(tmp_path)

        def with_words(*words: str) -> tuple[int, str, str]:
            status = main(["config", *words])
            return status, *capfd.readouterr()

        return with_words

    @pytest.fixture
    def project(self, tmp_path):
        write(tmp_path / "sub" / "train.py", "import torch\n")
        write(tmp_path / "base.toml", 'extend-select = ["DEV6"]\nexclude = ["sub/t*.py"]\n')
        write(
            tmp_path / "sub" / "devicelint.toml",
            'extend = "../base.toml"\nextend-select = ["DEV704"]\n'
            'ignore = [\n"DEV601",\n]\ntorch-version = "2.3"\n'
            'per-file-ignores = {"t*.py" = ["DEV4"]}\nseverity = {DEV2 = "off", DEV101 = "note"}\n',
        )
        return tmp_path

    def test_each_rule_says_why(self, run, project):
        status, out, error = run("sub/train.py", "--ignore", "DEV3")
        assert (status, error) == (0, "")
        lines = {line[:6]: line for line in out.splitlines() if line.startswith("DEV")}
        assert set(lines) == set(KNOWN)
        own = "sub/devicelint.toml"
        for code, told in {
            "DEV101": f'note     module-input-elsewhere         severity "DEV101", {own}:8',
            "DEV102": "error    mixed-devices                  default",
            "DEV201": f'off      numpy-on-device                severity "DEV2", {own}:8',
            "DEV303": 'off      load-without-map-location      ignore "DEV3", --ignore',
            "DEV401": f'off      hard-coded-accelerator         per-file-ignores "t*.py", {own}:7',
            "DEV601": f'off      create-then-move               ignore "DEV601", {own}:4',
            "DEV602": 'note     sync-in-loop                   extend-select "DEV6", base.toml:1',
        }.items():
            assert lines[code] == f"{code}  {told}"

    def test_each_value_says_where_from(self, run, project):
        _, out, _ = run("sub/train.py")
        head, values, _ = out.split("\n\n")
        assert head.splitlines() == [
            "sub/train.py",
            "  settings of sub/devicelint.toml, which extends base.toml",
            '  passed over where folders are searched: exclude "sub/t*.py", base.toml:2',
        ]
        rows = [line.split(maxsplit=1) for line in values.splitlines()]
        told = {key: rest.split("  ")[0] for key, rest in rows}
        assert told["torch-version"] == '"2.3"'
        assert told["per-file-ignores"] == '"t*.py" = ["DEV4"]'
        assert told["unsafe-fixes"] == "false"
        places = [line.rpartition("  ")[2] for line in values.splitlines()]
        assert places[:5] == [
            "sub/devicelint.toml:1",
            "default",
            "base.toml:1",
            "sub/devicelint.toml:2",
            "sub/devicelint.toml:4",
        ]

    def test_for_programs(self, run, project):
        _, out, _ = run("sub/train.py", "--json", "--select", "DEV1,DEV602")
        told = json.loads(out)
        own, base = str(project / "sub" / "devicelint.toml"), str(project / "base.toml")
        assert told["settings"] == [own, base]
        assert told["values"]["torch-version"] == {
            "value": "2.3",
            "origin": {"from": "file", "file": own, "row": 6, "column": 1},
        }
        assert told["values"]["select"]["value"] == ["DEV1", "DEV602"]
        assert told["values"]["ignore"] == {
            "value": [],
            "origin": {"from": "option", "option": "--select"},
        }
        assert told["values"]["unsafe-fixes"]["origin"] == {"from": "default"}
        assert told["excluded"]["item"] == "sub/t*.py"
        rules = {rule["code"]: rule for rule in told["rules"]}
        assert rules["DEV101"] == {
            "code": "DEV101",
            "name": "module-input-elsewhere",
            "on": True,
            "severity": "note",
            "because": {
                "key": "select",
                "item": "DEV1",
                "origin": {"from": "option", "option": "--select"},
            },
        }
        assert [code for code, rule in rules.items() if rule["on"] and code > "DEV2"] == ["DEV602"]

    def test_items_that_hold_no_more_are_not_told(self, run, tmp_path):
        write(tmp_path / "base.toml", 'ignore = ["DEV1"]\nextend-select = ["DEV601"]\n')
        text = 'extend = "base.toml"\nignore = ["DEV2"]\nextend-select = ["DEV602"]\n'
        write(tmp_path / "devicelint.toml", text)
        values = json.loads(run("--json")[1])["values"]
        assert values["ignore"]["items"].keys() == {"DEV2"}
        assert values["extend-select"]["items"].keys() == {"DEV601", "DEV602"}

    def test_a_folder_above_may_be_passed_over(self, run, tmp_path):
        write(tmp_path / "devicelint.toml", 'exclude = ["old"]\n')
        write(tmp_path / "old" / "more" / "devicelint.toml", "")
        write(tmp_path / "old" / "more" / "train.py", "")
        path = str(Path("old", "more", "train.py"))
        told = '  passed over where folders are searched: exclude "old", devicelint.toml:1'
        assert run(path)[1].splitlines()[2] == told
        assert json.loads(run("--json", path)[1])["excluded"]["item"] == "old"
        assert json.loads(run("--json", "devicelint.toml")[1])["excluded"] is None

    def test_files_that_are_not_read_are_named(self, run, tmp_path):
        write(tmp_path / "pyproject.toml", "[tool.devicelint]\n")
        write(tmp_path / "devicelint.toml", "")
        assert run()[1].splitlines()[:3] == [
            ".",
            "  settings of devicelint.toml",
            "  not those of pyproject.toml: devicelint.toml goes before it",
        ]

    def test_without_any_settings(self, run, tmp_path, monkeypatch):
        monkeypatch.setattr(Path, "is_file", lambda path: False)
        assert run()[1].startswith(".\n  no file has settings for it\n\nextend ")

    def test_what_is_not_there(self, run):
        assert run("none.py") == (2, "", "none.py:1:1: there is no such file or folder\n")

    def test_a_broken_file_is_told(self, run, tmp_path):
        path = write(tmp_path / "devicelint.toml", "select = [\n")
        status, out, error = run()
        assert (status, out) == (2, "")
        assert error.startswith(f"{path}:2:1: is not valid TOML: ")


class TestSchema:
    @pytest.fixture
    def validator(self, capsys):
        assert main(["config", "--schema"]) == 0
        schema = json.loads(capsys.readouterr().out)
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    def test_what_can_be_read_fits(self, validator):
        settings = {
            "extend": "../base.toml",
            "select": ["DEV1", "mixed-devices"],
            "severity": {"DEV1": "note", "DEV101": "off"},
            "per-file-ignores": {"tests": ["DEV4"]},
            "exclude": ["a"],
            "unsafe-fixes": True,
            "torch-version": "2.6",
            "device-style": "to",
        }
        assert settings.keys() <= SETTINGS.keys() == validator.schema["properties"].keys()
        assert list(validator.iter_errors(settings)) == []

    @pytest.mark.parametrize(
        "settings",
        [
            {"selct": []},
            {"select": "DEV1"},
            {"severity": {"DEV101": "warn"}},
            {"severity": "off"},
            {"per-file-ignores": {"a": "DEV1"}},
            {"exclude": [1]},
            {"unsafe-fixes": "yes"},
            {"torch-version": 2.6},
            {"device-style": "cuda"},
            {"extend": []},
        ],
    )
    def test_what_cannot_does_not(self, validator, settings):
        assert len(list(validator.iter_errors(settings))) == 1

    def test_rules_are_offered(self, validator):
        offered, _ = validator.schema["properties"]["select"]["items"]["anyOf"]
        assert offered["enum"][:2] == list(KNOWN)[:2]
        assert "mixed-devices" in offered["enum"]
