"""`[tool.devicelint]`: what it says, where it is found, how its mistakes are told."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devicelint.config import Config, ConfigError, ConfigFinder, load_config
from devicelint.config.patterns import covers, matches

KNOWN = {
    "DEV101": "module-input-elsewhere",
    "DEV102": "mixed-devices",
    "DEV201": "numpy-on-device",
}


def written(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str) -> Config:
    return load_config(written(folder, text), folder, KNOWN)


def problem(folder: Path, text: str | bytes) -> str:
    path = folder / "pyproject.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        load_config(None, folder, KNOWN)
    assert caught.value.path == str(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}:")


def enabled(config: Config, path: str = "train.py") -> set[str]:
    return {
        code
        for code, name in KNOWN.items()
        if config.selects(code, name) and config.holds_for(code, name, path)
    }


class TestReading:
    def test_every_key(self, tmp_path):
        config = loaded(
            tmp_path,
            """
            [tool.devicelint]
            select = ["DEV1", "numpy-on-device"]
            extend-select = ["mixed-devices"]
            ignore = ["DEV102"]
            exclude = ["third_party"]
            unsafe-fixes = true
            torch-version = "2.6.1"
            device-style = "accelerator"

            [tool.devicelint.per-file-ignores]
            "tests/*" = ["DEV1"]
            "b.py" = []
            """,
        )
        assert config == Config(
            select=("DEV1", "numpy-on-device"),
            extend_select=("mixed-devices",),
            ignore=("DEV102",),
            exclude=("third_party",),
            unsafe_fixes=True,
            per_file_ignores=(("tests/*", ("DEV1",)), ("b.py", ())),
            root=tmp_path,
            torch_version=(2, 6),
            device_style="accelerator",
        )

    def test_an_empty_table_leaves_everything_on(self, tmp_path):
        assert loaded(tmp_path, "[tool.devicelint]") == Config(root=tmp_path)
        assert enabled(Config()) == set(KNOWN)

    def test_tools_are_read_when_they_are_needed(self):
        # In a fresh interpreter: pytest itself has imported them here.
        import subprocess

        reading = "import sys, devicelint.config, devicelint.workspace.files; print(*sys.modules)"
        command = [sys.executable, "-c", reading]
        modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert not {"tomllib", "tomli", "difflib", "tempfile", "libcst", "rich"} & set(modules)


class TestWhereItIsFound:
    def test_upwards(self, tmp_path):
        written(tmp_path, "[tool.devicelint]\nignore = ['DEV1']")
        (tmp_path / "a" / "b").mkdir(parents=True)
        written(tmp_path / "a", "[tool.other]\n")
        finder = ConfigFinder(KNOWN)
        for path in (tmp_path / "a" / "b", tmp_path / "a" / "b" / "train.py", tmp_path / "nowhere"):
            assert finder.config_for(path) == Config(ignore=("DEV1",), root=tmp_path)

    def test_the_nearest(self, tmp_path):
        written(tmp_path, "[tool.devicelint]\nignore = ['DEV1']")
        (tmp_path / "a").mkdir()
        written(tmp_path / "a", "[tool.devicelint]")
        assert ConfigFinder(KNOWN).config_for(tmp_path / "a").ignore == ()

    def test_from_deeper_than_calls_of_python_go(self, tmp_path, monkeypatch):
        written(tmp_path, "[tool.devicelint]\nignore = ['DEV1']")
        deep = tmp_path.joinpath(*["d"] * 1200)
        assert ConfigFinder(KNOWN).config_for(deep / "train.py").ignore == ("DEV1",)

    def test_each_file_is_read_once(self, tmp_path):
        path = written(tmp_path, "[tool.devicelint]\nignore = ['DEV1']")
        finder = ConfigFinder(KNOWN)
        first = finder.config_for(tmp_path / "a.py")
        path.unlink()
        assert finder.config_for(tmp_path / "b.py") is first

    def test_a_mistake_is_remembered_too(self, tmp_path):
        path = written(tmp_path, "[tool.devicelint")
        finder = ConfigFinder(KNOWN)
        for _ in range(2):
            with pytest.raises(ConfigError):
                finder.config_for(tmp_path)
            path.unlink(missing_ok=True)

    def test_nowhere(self, tmp_path, monkeypatch):
        monkeypatch.setattr(Path, "is_file", lambda path: False)
        assert load_config(None, tmp_path, KNOWN) == Config()

    def test_relative_to_the_current_folder(self, tmp_path, monkeypatch):
        written(tmp_path, "[tool.devicelint]\nper-file-ignores = {'src/a.py' = ['DEV']}")
        (tmp_path / "src").mkdir()
        monkeypatch.chdir(tmp_path / "src")
        config = load_config(None, Path(), KNOWN)
        assert enabled(config, "a.py") == set()
        assert enabled(config, "b.py") == set(KNOWN)

    def test_an_explicit_file_goes_before_all_others(self, tmp_path):
        written(tmp_path, "[tool.devicelint]\nignore = ['DEV1']")
        (tmp_path / "ci").mkdir()
        other = tmp_path / "ci" / "strict.toml"
        other.write_text("[tool.devicelint]\n", encoding="utf-8")
        assert load_config(other, tmp_path, KNOWN) == Config(root=tmp_path / "ci")

    def test_an_explicit_file_must_exist(self, tmp_path):
        with pytest.raises(ConfigError, match=r"none\.toml:1:1: cannot be read: No such file"):
            load_config(tmp_path / "none.toml", tmp_path, KNOWN)
        with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
            load_config(tmp_path, tmp_path, KNOWN)

    def test_an_explicit_file_must_have_the_table(self, tmp_path):
        with pytest.raises(ConfigError, match=r"has no table \[tool.devicelint\]"):
            loaded(tmp_path, "select = ['DEV1']\n")


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "[tool.devicelint]\n\nselcet = []",
                '3:1: unknown key "selcet" in [tool.devicelint]; did you mean "select"?',
            ),
            (
                "[tool.devicelint]\nunsafe_fix = true",
                '2:1: unknown key "unsafe_fix" in [tool.devicelint]; did you mean "unsafe-fixes"?',
            ),
            (
                "[tool.devicelint]\nline-length = 100",
                '2:1: unknown key "line-length" in [tool.devicelint]',
            ),
            (
                "[tool.ruff]\nselect = ['A']\n[tool.devicelint]\nselect = [\n'DEV1',\n  'DEV2O1']",
                '6:4: "select": no rule is called "DEV2O1"; did you mean "DEV201"?',
            ),
            (
                "[tool.devicelint]\nignore = ['mixed-device']",
                '2:12: "ignore": no rule is called "mixed-device"; did you mean "mixed-devices"?',
            ),
            (
                "[tool.devicelint]\nignore = ['']",
                '2:12: "ignore": no rule is called ""',
            ),
            (
                "[tool.devicelint.per-file-ignores]\n'a.py' = ['DEV1']\n'b.py' = ['E501']",
                '3:12: "per-file-ignores.b.py": no rule is called "E501"',
            ),
            (
                "[tool.devicelint]\nselect = 'DEV1'",
                '2:1: "select" must be a list of strings, not a string',
            ),
            (
                "[tool.devicelint]\nselect = ['DEV1']\nextend-select = ['DEV3']",
                '3:19: "extend-select": no rule is called "DEV3"',
            ),
            (
                "[tool.devicelint]\ntorch-version = '2,6'",
                '2:1: "torch-version": "2,6" is not a release of torch: write it like "2.6"',
            ),
            (
                "[tool.devicelint]\ntorch-version = '>=2.6'",
                '2:1: "torch-version": ">=2.6" is not a release of torch: write it like "2.6"',
            ),
            (
                "[tool.devicelint]\ntorch-version = 2.6",
                '2:1: "torch-version" must be a string, not a number',
            ),
            (
                "[tool.devicelint]\ndevice-style = 'cuda'",
                '2:1: "device-style": expected "to" or "accelerator", found "cuda"',
            ),
            (
                "[tool.devicelint]\nexclude = [1]",
                '2:12: "exclude" must be a list of strings, but has a number in it',
            ),
            (
                "[tool.devicelint]\nunsafe-fixes = 'yes'",
                '2:1: "unsafe-fixes" must be true or false, not a string',
            ),
            (
                "[tool.devicelint]\nunsafe-fixes = 1979-05-27",
                '2:1: "unsafe-fixes" must be true or false, not a date or time',
            ),
            (
                "[tool.devicelint]\nper-file-ignores = []",
                '2:1: "per-file-ignores" must be a table, not a list',
            ),
            (
                "[tool.devicelint]\nper-file-ignores = {'a.py' = true}",
                '2:22: "per-file-ignores.a.py" must be a list of strings, not true or false',
            ),
            ("[tool]\ndevicelint = 3", '2:1: "tool.devicelint" must be a table, not a number'),
            ("[[tool.devicelint]]", '1:8: "tool.devicelint" must be a table, not a list'),
            ("tool = 3.5", '1:1: "tool" must be a table, not a number'),
        ],
    )
    def test_are_told_where_they_are(self, tmp_path, text, message):
        assert problem(tmp_path, text) == message

    @pytest.mark.parametrize(
        ("text", "start"),
        [
            ("[tool.devicelint]\nselect = ['DEV1'", "2:17: is not valid TOML: Unclosed array"),
            ("a = 1\r\n[tool.devicelint\r\n", "2:17: is not valid TOML: "),
            ("a = 1\nselect select", "2:8: is not valid TOML: "),
            ("a = 1\na = 2", "2:6: is not valid TOML: Cannot overwrite a value"),
            (b"a = 1\nb = '\xc3\xa9\xff'", "2:7: is not UTF-8"),
            ("a = " + "[" * 100_000, "1:"),
            ("a = " + "9" * 5_000, "1:"),
        ],
    )
    def test_of_toml(self, tmp_path, text, start):
        assert problem(tmp_path, text).startswith(start)

    @given(st.text(st.sampled_from("[]{}=\"'.\n\r #a1\\tool.devicelint"), max_size=40))
    def test_whatever_the_text_it_is_read_or_refused(self, tmp_path_factory, text):
        path = tmp_path_factory.getbasetemp() / "any.toml"
        path.write_bytes(text.encode())
        try:
            load_config(path, path.parent, KNOWN)
        except ConfigError as error:
            message = str(error)
        else:
            return
        assert message.startswith(f"{path}:")


class TestEnabled:
    @pytest.mark.parametrize(
        ("select", "ignore", "codes"),
        [
            (None, (), set(KNOWN)),
            (None, ("DEV",), set()),
            (None, ("D",), set()),
            (None, ("DEV1",), {"DEV201"}),
            ((), (), set()),
            (("DEV1",), (), {"DEV101", "DEV102"}),
            (("DEV1",), ("DEV101",), {"DEV102"}),
            (("DEV101",), ("DEV1",), {"DEV101"}),
            (("DEV1",), ("DEV1",), set()),
            (("DEV", "DEV101"), ("DEV1",), {"DEV101", "DEV201"}),
            (("mixed-devices",), ("DEV1",), {"DEV102"}),
            (("DEV102",), ("mixed-devices",), set()),
            (("dev1",), ("Mixed-Devices",), {"DEV101"}),
        ],
    )
    def test_the_closer_name_decides(self, select, ignore, codes):
        assert enabled(Config(select=select, ignore=ignore)) == codes

    @pytest.mark.parametrize(
        ("config", "off_by_default", "on_by_default"),
        [
            (Config(), False, True),
            (Config(extend_select=("DEV1",)), True, True),
            (Config(extend_select=("module-input-elsewhere",)), True, True),
            (Config(extend_select=("DEV2",)), False, True),
            (Config(select=("DEV",)), True, True),
            (Config(select=()), False, False),
            (Config(select=("DEV2",), extend_select=("DEV101",)), True, True),
            (Config(extend_select=("DEV1",), ignore=("DEV101",)), False, False),
            (Config(extend_select=("DEV101",), ignore=("DEV1",)), True, True),
            (Config(extend_select=("DEV1",), ignore=("DEV1",)), False, False),
        ],
    )
    def test_what_is_off_waits_until_it_is_selected(self, config, off_by_default, on_by_default):
        rule = ("DEV101", "module-input-elsewhere")
        assert config.selects(*rule, default=False) is off_by_default
        assert config.selects(*rule, default=True) is on_by_default

    def test_per_file_ignores(self, tmp_path):
        config = Config(
            select=("DEV101", "DEV201"),
            per_file_ignores=(("tests", ("DEV1",)), ("conftest.py", ("DEV2",))),
            root=tmp_path,
        )
        root = str(tmp_path)
        assert enabled(config, f"{root}/train.py") == {"DEV101", "DEV201"}
        assert enabled(config, f"{root}/tests/a/train.py") == {"DEV201"}
        assert enabled(config, f"{root}/tests/conftest.py") == set()
        assert enabled(config, f"{root}/../elsewhere/train.py") == {"DEV101", "DEV201"}


class TestCommandLine:
    FILE = Config(select=("DEV1",), ignore=("DEV102",), exclude=("a",), unsafe_fixes=True)

    def test_nothing_said_changes_nothing(self):
        assert self.FILE.with_command_line() == self.FILE

    def test_select_takes_the_place_of_both(self):
        assert enabled(self.FILE.with_command_line(select=["DEV102"])) == {"DEV102"}

    def test_extend_select_adds(self):
        file = Config(select=("DEV101",), extend_select=("DEV102",))
        assert enabled(file.with_command_line(extend_select=["DEV2"])) == set(KNOWN)
        assert enabled(self.FILE.with_command_line(extend_select=["DEV2"])) == {"DEV101", "DEV201"}

    def test_select_takes_the_place_of_what_the_file_adds(self):
        file = Config(extend_select=("DEV102",))
        assert enabled(file.with_command_line(select=["DEV2"])) == {"DEV201"}
        both = file.with_command_line(select=["DEV2"], extend_select=["DEV101"])
        assert enabled(both) == {"DEV101", "DEV201"}

    def test_torch_version(self):
        file = Config(torch_version=(2, 1))
        assert file.with_command_line().torch_version == (2, 1)
        assert file.with_command_line(torch_version=(1, 13)).torch_version == (1, 13)

    def test_ignore_adds(self):
        assert enabled(self.FILE.with_command_line(ignore=["DEV101"])) == set()

    def test_both(self):
        both = self.FILE.with_command_line(select=["DEV"], ignore=["DEV1"])
        assert enabled(both) == {"DEV201"}

    def test_unsafe_fixes(self):
        assert not self.FILE.with_command_line(unsafe_fixes=False).unsafe_fixes


class TestPathPatterns:
    @pytest.mark.parametrize(
        ("pattern", "path"),
        [
            ("a.py", "a.py"),
            ("a.py", "x/y/a.py"),
            ("*.py", "x/a.py"),
            ("test_?.py", "test_1.py"),
            ("[ab].py", "x/b.py"),
            ("x/*.py", "x/a.py"),
            ("./x/*.py", "x/a.py"),
            ("/a.py", "a.py"),
            ("x/", "y/x"),
            ("x/**", "x/y/a.py"),
            ("x/**/a.py", "x/a.py"),
            ("x/**/a.py", "x/y/z/a.py"),
            ("**/x/*", "y/x/a.py"),
            ("**/x/*", "x/a.py"),
            ("**/**/a.py", "a.py"),
            ("**", "x/a.py"),
            ("*", "a.py"),
            ("[", "["),
        ],
    )
    def test_match(self, pattern, path):
        assert matches(pattern, path)

    @pytest.mark.parametrize(
        ("pattern", "path"),
        [
            ("a.py", "b.py"),
            ("a.py", "a.pyi"),
            ("A.py", "a.py"),
            ("/a.py", "x/a.py"),
            ("x/*.py", "x/y/a.py"),
            ("x/*.py", "y/x/a.py"),
            ("x/**", "x"),
            ("x/**", "y/x/a.py"),
            ("x", "x/a.py"),
            ("", "a.py"),
            ("*.py", "../b.pyx"),
        ],
    )
    def test_no_match(self, pattern, path):
        assert not matches(pattern, path)

    def test_a_folder_covers_what_is_in_it(self):
        assert covers("x/y", "x/y/z/a.py")
        assert covers("y", "x/y/z/a.py")
        assert not covers("y/z", "x/y/z/a.py")

    def test_many_stars_are_no_trouble(self):
        assert not matches("/".join(["**", "a"] * 30), "/".join(["a"] * 60 + ["b"]))
