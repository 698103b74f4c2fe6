"""Settings in files of their own, in several folders, and on top of one another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devicelint.config import Config, ConfigError, ConfigFinder, load_config
from devicelint.finding import Severity
from devicelint.path_pattern import Anchored
from devicelint.rule_index import known_rules

KNOWN = known_rules()
LEVELS = '"error", "warning", "note" or "off"'


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def problem(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(path, path.parent, KNOWN)
    return str(caught.value)


class TestFilesOfTheirOwn:
    @pytest.mark.parametrize("name", ["devicelint.toml", ".devicelint.toml"])
    def test_they_hold_settings_without_a_table(self, tmp_path, name):
        write(tmp_path / name, 'ignore = ["DEV1"]\n[severity]\nDEV2 = "note"\n')
        config = ConfigFinder(KNOWN).config_for(tmp_path / "train.py")
        assert config == Config(
            ignore=("DEV1",), severity=(("DEV2", Severity.NOTE),), root=tmp_path
        )

    def test_the_plainest_name_comes_last(self, tmp_path):
        names = [".devicelint.toml", "devicelint.toml", "pyproject.toml"]
        for number, name in enumerate(names, start=1):
            table = "[tool.devicelint]\n" if name == "pyproject.toml" else ""
            write(tmp_path / name, f'{table}torch-version = "2.{number}"\n')
        for number, name in enumerate(names, start=1):
            config = ConfigFinder(KNOWN).config_for(tmp_path)
            assert config.torch_version == (2, number)
            (tmp_path / name).unlink()

    def test_a_nearer_folder_goes_before_all_that_is_above(self, tmp_path):
        write(tmp_path / "devicelint.toml", 'ignore = ["DEV1"]\n')
        write(tmp_path / "sub" / "pyproject.toml", "[tool.devicelint]\nunsafe-fixes = true\n")
        config = ConfigFinder(KNOWN).config_for(tmp_path / "sub" / "train.py")
        assert config == Config(unsafe_fixes=True, root=tmp_path / "sub")

    def test_a_pyproject_without_the_table_is_passed_by(self, tmp_path):
        write(tmp_path / "devicelint.toml", 'ignore = ["DEV1"]\n')
        write(tmp_path / "sub" / "pyproject.toml", "[tool.other]\n")
        assert ConfigFinder(KNOWN).config_for(tmp_path / "sub").ignore == ("DEV1",)

    def test_an_empty_one_holds_all_the_same(self, tmp_path):
        write(tmp_path / "devicelint.toml", 'ignore = ["DEV1"]\n')
        write(tmp_path / "sub" / "devicelint.toml", "")
        assert ConfigFinder(KNOWN).config_for(tmp_path / "sub").ignore == ()

    def test_the_table_of_pyproject_does_not_belong_there(self, tmp_path):
        path = write(tmp_path / "devicelint.toml", "\n[tool.devicelint]\nselect = []\n")
        told = "devicelint.toml holds settings alone: take [tool.devicelint] away"
        assert problem(path) == f"{path}:2:7: {told}"

    def test_any_other_file_may_have_either(self, tmp_path):
        for text in ('ignore = ["DEV1"]\n', '[tool.devicelint]\nignore = ["DEV1"]\n'):
            assert load_config(write(tmp_path / "ci.toml", text), tmp_path, KNOWN).ignore == (
                "DEV1",
            )

    def test_an_unknown_key_is_told_without_a_table(self, tmp_path):
        path = write(tmp_path / "devicelint.toml", "[sevrity]\n")
        assert problem(path) == f'{path}:1:2: unknown key "sevrity"; did you mean "severity"?'


class TestExtend:
    def test_what_a_file_does_not_say_the_other_one_does(self, tmp_path):
        write(
            tmp_path / "base.toml",
            'select = ["DEV1"]\nignore = ["DEV101"]\ntorch-version = "2.3"\nunsafe-fixes = true\n',
        )
        path = write(
            tmp_path / "sub" / "devicelint.toml",
            'extend = "../base.toml"\nignore = ["DEV102"]\nunsafe-fixes = false\n',
        )
        assert load_config(path, tmp_path, KNOWN) == Config(
            extend=tmp_path / "base.toml",
            select=("DEV1",),
            ignore=("DEV102",),
            torch_version=(2, 3),
            unsafe_fixes=False,
            root=tmp_path / "sub",
        )

    def test_rules_that_are_brought_in_add_up(self, tmp_path):
        write(tmp_path / "base.toml", 'extend-select = ["DEV601"]\n')
        path = write(tmp_path / "own.toml", 'extend = "base.toml"\nextend-select = ["DEV602"]\n')
        assert load_config(path, tmp_path, KNOWN).extend_select == ("DEV601", "DEV602")

    def test_tables_are_put_together_entry_by_entry(self, tmp_path):
        write(
            tmp_path / "base.toml",
            '[severity]\nDEV1 = "note"\nDEV2 = "off"\n[per-file-ignores]\n"a" = ["DEV1"]\n',
        )
        path = write(
            tmp_path / "own.toml",
            'extend = "base.toml"\nseverity = {DEV1 = "error"}\nper-file-ignores = {"b" = []}\n',
        )
        config = load_config(path, tmp_path, KNOWN)
        assert config.severity == (("DEV2", None), ("DEV1", Severity.ERROR))
        assert config.per_file_ignores == (("a", ("DEV1",)), ("b", ()))

    def test_patterns_start_where_they_are_written(self, tmp_path):
        write(
            tmp_path / "base.toml",
            'exclude = ["*/gen/*"]\n[per-file-ignores]\n"*/tests/**" = ["DEV1"]\n',
        )
        path = write(
            tmp_path / "sub" / "own.toml",
            'extend = "../base.toml"\n[per-file-ignores]\n"tests/**" = ["DEV2"]\n',
        )
        config = load_config(path, tmp_path, KNOWN)
        assert config.exclude == (Anchored("*/gen/*", tmp_path),)
        file = str(tmp_path / "sub" / "tests" / "train.py")
        deeper = str(tmp_path / "sub" / "sub" / "tests" / "train.py")
        silent = [
            [code for code, name in KNOWN.items() if not config.holds_for(code, name, each)]
            for each in (file, deeper)
        ]
        assert silent == [[code for code in KNOWN if code[:4] in ("DEV1", "DEV2")], []]
        assert config.excludes(tmp_path / "sub" / "gen" / "x.py")
        assert not config.excludes(tmp_path / "sub" / "sub" / "gen" / "x.py")

    def test_a_chain(self, tmp_path):
        write(tmp_path / "a.toml", 'ignore = ["DEV1"]\ntorch-version = "2.1"\n')
        write(tmp_path / "b" / "b.toml", 'extend = "../a.toml"\ntorch-version = "2.2"\n')
        path = write(tmp_path / "c.toml", 'extend = "b/b.toml"\ndevice-style = "accelerator"\n')
        config = load_config(path, tmp_path, KNOWN)
        assert (config.ignore, config.torch_version) == (("DEV1",), (2, 2))
        assert [file.name for file in config.files] == ["c.toml", "b.toml", "a.toml"]

    def test_a_pyproject_may_be_extended(self, tmp_path):
        write(tmp_path / "pyproject.toml", '[tool.devicelint]\nignore = ["DEV1"]\n')
        path = write(tmp_path / "sub" / "devicelint.toml", 'extend = "../pyproject.toml"\n')
        assert load_config(path, tmp_path, KNOWN).ignore == ("DEV1",)

    def test_the_home_of_the_user(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        write(tmp_path / "mine.toml", 'ignore = ["DEV1"]\n')
        path = write(tmp_path / "sub" / "devicelint.toml", 'extend = "~/mine.toml"\n')
        assert load_config(path, tmp_path, KNOWN).ignore == ("DEV1",)

    def test_a_circle(self, tmp_path):
        first = write(tmp_path / "a.toml", 'extend = "b.toml"\n')
        second = write(tmp_path / "b.toml", '\nextend = "./a.toml"\n')
        told = f"{first} extends {second} extends {first}"
        assert problem(first) == f'{second}:2:1: "extend": goes round in a circle: {told}'

    def test_itself_by_another_name(self, tmp_path):
        path = write(tmp_path / "a.toml", 'extend = "link/a.toml"\n')
        (tmp_path / "link").symlink_to(tmp_path)
        assert '1:1: "extend": goes round in a circle: ' in problem(path)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ('extend = "none.toml"', '"extend": there is no file {folder}/none.toml'),
            ('extend = "."', '"extend": there is no file {folder}'),
            ('extend = "pyproject.toml"', '"extend": {folder}/pyproject.toml has no table'),
            ('extend = ""', "\"extend\": '' is no path"),
            ('extend = "a\\u0000b"', '"extend": '),
            ('extend = ["a.toml"]', '"extend" must be a string, not a list'),
        ],
    )
    def test_what_cannot_be_extended(self, tmp_path, text, told):
        write(tmp_path / "pyproject.toml", "[tool.other]\n")
        path = write(tmp_path / "own.toml", f"\n{text}\n")
        assert problem(path).startswith(f"{path}:2:1: {told.format(folder=tmp_path)}")

    def test_mistakes_are_told_in_the_file_that_has_them(self, tmp_path):
        base = write(tmp_path / "base.toml", '\nignore = ["DEV999"]\n')
        path = write(tmp_path / "own.toml", 'extend = "base.toml"\n')
        assert problem(path).startswith(f'{base}:2:12: "ignore": no rule is called "DEV999"')


class TestSeverity:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ('DEV101 = "warn"', f'expected {LEVELS}, found "warn"; did you mean "warning"?'),
            ("DEV101 = false", "must be a string, not true or false"),
            ('DEV1O1 = "off"', 'no rule is called "DEV1O1"; did you mean "DEV101"?'),
        ],
    )
    def test_mistakes(self, tmp_path, text, told):
        path = write(tmp_path / "devicelint.toml", f"[severity]\n{text}\n")
        start, _, rest = problem(path).partition(f'"severity.{text[:6]}"')
        assert (start, rest.lstrip(": ")) == (f"{path}:2:1: ", told)

    def test_the_closest_entry_holds_and_of_equals_the_last(self):
        config = Config(
            severity=(
                ("DEV", Severity.NOTE),
                ("DEV101", Severity.ERROR),
                ("DEV1", Severity.WARNING),
                ("module-input-elsewhere", Severity.NOTE),
            )
        )

        def severity(code: str) -> Severity:
            return config.severity_of(code, KNOWN[code], Severity.ERROR)

        assert severity("DEV101") is Severity.NOTE
        assert severity("DEV102") is Severity.WARNING
        assert severity("DEV201") is Severity.NOTE

    @pytest.mark.parametrize(
        ("settings", "default", "is_on"),
        [
            ({"severity": (("DEV6", Severity.NOTE),)}, False, False),
            ({"severity": (("DEV601", Severity.NOTE),)}, False, True),
            ({"severity": (("create-then-move", Severity.ERROR),)}, False, True),
            ({"severity": (("DEV6", None),)}, True, False),
            ({"severity": (("DEV6", None), ("DEV601", Severity.NOTE))}, True, True),
            ({"severity": (("DEV6", None),), "select": ("DEV601",)}, True, True),
            ({"severity": (("DEV601", None),), "select": ("DEV601",)}, True, False),
            ({"severity": (("DEV601", Severity.NOTE),), "ignore": ("DEV6",)}, True, True),
            ({"severity": (("DEV601", Severity.NOTE),), "ignore": ("DEV601",)}, True, False),
        ],
    )
    def test_off_ignores_and_an_entry_for_a_rule_selects_it(self, settings, default, is_on):
        assert Config(**settings).selects("DEV601", "create-then-move", default=default) is is_on

    def test_what_the_command_line_selects_is_what_is_checked(self):
        config = Config(severity=(("DEV601", Severity.NOTE), ("DEV602", None)))
        config = config.with_command_line(select=["DEV602"])
        assert config.selects("DEV602", "sync-in-loop")
        assert not config.selects("DEV601", "create-then-move")


class TestCommand:
    @pytest.fixture
    def run(self, tmp_path, monkeypatch, capfd):
        from devicelint.cli import main

        monkeypatch.chdir(tmp_path)

        def with_words(*words: str) -> tuple[int, str, str]:
            status = main(["config", *words])
            return status, *capfd.readouterr()

        return with_words

    @pytest.fixture
    def project(self, tmp_path):
        write(tmp_path / "sub" / "train.py", "import torch\n")
        write(tmp_path / "base.toml", 'extend-select = ["DEV6"]\nexclude = ["sub"]\n')
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
            '  passed over where folders are searched: exclude "sub", base.toml:2',
        ]
        told = {line[:18].strip(): line[18:].split("  ")[0] for line in values.splitlines()}
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
        assert told["excluded"]["item"] == "sub"
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
        assert run()[1].startswith(".\n  settings of no file\n\nextend ")

    def test_what_is_not_there(self, run):
        assert run("none.py") == (2, "", "none.py:1:1: there is no such file or folder\n")

    def test_a_broken_file_is_told(self, run, tmp_path):
        path = write(tmp_path / "devicelint.toml", "select = [\n")
        status, out, error = run()
        assert (status, out) == (2, "")
        assert error.startswith(f"{path}:2:1: is not valid TOML: ")


def test_flake8_honours_all_of_it(tmp_path, monkeypatch):
    import ast

    from devicelint.flake8_plugin import Plugin

    monkeypatch.chdir(tmp_path)
    script = (
        "import torch\n"
        'device = torch.device("cuda")\n'
        "net = torch.nn.Linear(2, 2).to(device)\n"
        "net(torch.zeros(2))\n"
        "y = torch.ones(2).to(device)\n"
        "y.cpu()\n"
        'device == "cuda"\n'
    )

    def codes(path: str) -> set[str]:
        plugin = Plugin(ast.parse(""), path, script.splitlines(keepends=True))
        return {message.split()[0] for _, _, message, _ in plugin.run()}

    write(tmp_path / "base.toml", '[severity]\nDEV1 = "warning"\nDEV4 = "note"\nDEV6 = "warning"\n')
    write(
        tmp_path / "sub" / "devicelint.toml",
        'extend = "../base.toml"\nextend-select = ["create-then-move"]\n'
        '[per-file-ignores]\n"old" = ["DEV103"]\n',
    )
    assert codes("plain/train.py") == {"DEV103", "DEV104", "DEV405"}
    assert codes("sub/train.py") == {"DEV103", "DEV104", "DEV601"}
    assert codes("sub/old/train.py") == {"DEV104", "DEV601"}
