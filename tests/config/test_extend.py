"""Settings in files of their own, in several folders, and on top of one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devicelint.config import SETTINGS, Config, ConfigError, ConfigFinder, load_config
from devicelint.config.patterns import Anchored
from devicelint.finding import Severity
from devicelint.rule_index import known_rules
from tests.config.test_toml_places import written

KNOWN = known_rules()


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

    def test_a_mark_of_the_byte_order_is_passed_by(self, tmp_path):
        (tmp_path / "devicelint.toml").write_bytes(b'\xef\xbb\xbfignore = ["DEV1"]\r\n')
        assert ConfigFinder(KNOWN).config_for(tmp_path).ignore == ("DEV1",)

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


_VALUES = st.recursive(
    st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from(["DEV1", "cuda", "", "2.6", "x y", "../a"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["DEV1", "self.net", "*.py", ""]), inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("settings")


@given(st.dictionaries(st.sampled_from([*SETTINGS, "junk"]), _VALUES, max_size=3))
def test_whatever_is_written_is_read_or_refused_at_its_place(folder, settings):
    path = folder / "devicelint.toml"
    text = "".join(f"{key} = {written(value)}\n" for key, value in settings.items())
    path.write_text(text, encoding="utf-8")
    try:
        config = load_config(path, path.parent, KNOWN)
    except ConfigError as refused:
        error = refused
    else:
        assert set(settings) <= {way[0] for way in config.origins}
        return
    assert str(error).startswith(f"{path}:{error.line}:{error.column + 1}: ")
    key = text.splitlines()[error.line - 1].partition(" ")[0]
    assert f'"{key}' in error.message
