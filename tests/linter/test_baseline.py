"""A baseline: what is known stays known where it moves, and what is new is told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devicelint.cli import main
from devicelint.linter.baseline import Baseline, BaselineError, Key, count, key_of, read_baseline
from devicelint.linter.lint import check
from devicelint.text.source import SourceFile

OLD = """\
import torch
assert torch.cuda.is_available()
x = torch.ones(2)
x.cuda()
y = torch.ones(2)
y.cuda()
"""
NEW = OLD.replace("y.cuda()", "y.cuda()\nz = torch.ones(3)\nz.cuda()")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capfd):
    def run_it(*words: str) -> tuple[int, list[str], list[str]]:
        status = main([*words, "--output-format", "concise"])
        out, error = capfd.readouterr()
        return status, out.splitlines(), error.splitlines()

    return run_it


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(exist_ok=True, parents=True)
    Path(path).write_text(text, encoding="utf-8", newline="")


def entries(path: str = "base.json") -> dict[str, list[tuple[str, int]]]:
    read = json.loads(Path(path).read_text(encoding="utf-8"))["files"]
    return {name: [(one["code"], one["count"]) for one in each] for name, each in read.items()}


class TestWhatIsKnown:
    def test_is_not_told(self, run):
        write("train.py", OLD)
        assert run("--write-baseline", "base.json") == (
            0,
            [],
            ["base.json lists 2 findings in 1 file"],
        )
        assert run("--baseline", "base.json") == (
            0,
            [],
            ["No new device mistakes found in 1 file", "Hid 2 findings listed in base.json"],
        )

    def test_stays_known_where_it_moves_and_is_indented(self, run):
        write("train.py", OLD)
        run("--write-baseline", "base.json")
        lines = OLD.splitlines()
        moved = [*lines[:2], "# more", "", "if True:", *(f"    {line}" for line in lines[2:])]
        write("train.py", "\r\n".join(moved) + "\r\n")
        assert run("--baseline", "base.json", "-q") == (0, [], [])

    def test_is_told_where_its_line_changes(self, run):
        write("train.py", OLD)
        run("--write-baseline", "base.json")
        write("train.py", OLD.replace("y.cuda()", "y.cuda(0)"))
        status, out, error = run("--baseline", "base.json")
        assert status == 1
        assert [line.partition(" ")[0] for line in out] == ["train.py:6:1:"]
        assert error == [
            "Found 1 error",
            "Hid 1 finding listed in base.json",
            ("base.json lists 1 stale finding; --write-baseline base.json removes it"),
        ]

    def test_one_more_of_the_same_line_is_told(self, run):
        write("train.py", OLD)
        run("--write-baseline", "base.json")
        write("train.py", OLD + "x.cuda()\n")
        status, out, _ = run("--baseline", "base.json")
        assert (status, [line.partition(" ")[0] for line in out]) == (1, ["train.py:7:1:"])

    def test_is_known_from_any_folder(self, run, monkeypatch):
        write("ci/here.txt", "")
        write("src/train.py", OLD)
        assert run("src", "--write-baseline", "ci/base.json")[0] == 0
        assert list(entries("ci/base.json")) == ["../src/train.py"]
        monkeypatch.chdir("src")
        assert run("train.py", "--baseline", "../ci/base.json", "-q") == (0, [], [])

    def test_is_known_to_standard_input(self, run, monkeypatch):
        write("train.py", OLD)
        run("--write-baseline", "base.json")
        with Path("train.py").open(encoding="utf-8") as file:
            monkeypatch.setattr("sys.stdin", file)
            words = ("-", "--stdin-filename", "train.py", "--baseline", "base.json", "-q")
            assert run(*words) == (0, [], [])

    def test_in_every_format(self, run, capfd):
        write("train.py", NEW)
        write("base.json", '{"devicelint-baseline": 1, "files": {}}')
        write("old.py", OLD)
        run("old.py", "--write-baseline", "base.json")
        main(["--baseline", "base.json", "--output-format", "json", "old.py"])
        assert json.loads(capfd.readouterr().out) == []

    def test_of_a_notebook_is_known_by_its_cell(self, run):
        def notebook(*cells: str) -> str:
            made: list[dict[str, object]] = [
                {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
                | {"source": cell}
                for cell in cells
            ]
            return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})

        write("train.ipynb", notebook(OLD + "y\n"))
        run("--write-baseline", "base.json")
        write(
            "train.ipynb", notebook("import torch", OLD + "y\n", "z = torch.ones(3)\nz.cuda()\nz")
        )
        status, out, _ = run("--baseline", "base.json")
        assert (status, [line.partition(" ")[0] for line in out]) == (
            1,
            ["train.ipynb:cell"],
        )
        assert "cell 3:line 2" in out[0]


class TestWhatIsStale:
    def test_is_told_in_detail_where_details_are_asked_for(self, run):
        write("train.py", OLD)
        write("gone.py", OLD)
        run("--write-baseline", "base.json")
        Path("gone.py").unlink()
        write("train.py", OLD.replace("y.cuda()\n", ""))
        assert run("--baseline", "base.json", "-v")[2][-3:] == [
            ("base.json lists 3 stale findings; --write-baseline base.json removes them"),
            "gone.py: 2 DEV104 stale",
            "train.py: 1 DEV104 stale",
        ]

    def test_is_not_what_this_run_does_not_look_for(self, run):
        write("train.py", OLD)
        write("other.py", OLD)
        run("--write-baseline", "base.json")
        for words in (
            ("--select", "DEV401"),
            ("--ignore", "DEV104"),
            ("--ignore", "discarded-move", "other.py"),
        ):
            assert run(*words, "--baseline", "base.json")[2][1:] == []

    def test_is_not_what_cannot_be_checked(self, run):
        write("train.py", OLD)
        run("--write-baseline", "base.json")
        write("train.py", OLD + "x = (\n")
        status, _, error = run("--baseline", "base.json")
        assert status == 2
        assert not [line for line in error if "stale" in line]

    def test_fails_where_that_is_asked_for(self, run):
        write("train.py", OLD)
        run("--write-baseline", "base.json")
        assert run("--baseline", "base.json", "--fail-on-stale", "-q") == (0, [], [])
        write("train.py", OLD.replace("y.cuda()\n", ""))
        assert run("--baseline", "base.json", "-q") == (0, [], [])
        status, _, error = run("--baseline", "base.json", "--fail-on-stale")
        assert (status, error[-1].partition(";")[0]) == (
            1,
            "base.json lists 1 stale finding",
        )
        assert run("--baseline", "base.json", "--fail-on-stale", "--select", "DEV102")[0] == 0


class TestWriting:
    def test_takes_out_what_is_stale_and_keeps_what_was_not_looked_at(self, run):
        for name in ("train.py", "gone.py", "elsewhere/other.py", "broken.py"):
            write(name, OLD)
        run("--write-baseline", "base.json")
        Path("gone.py").unlink()
        write("broken.py", "import torch\nx = (\n")
        write("train.py", OLD.replace("y.cuda()\n", ""))
        status, _, error = run("--write-baseline", "base.json", "train.py", "broken.py")
        assert status == 2
        assert error[-1] == "base.json lists 5 findings in 3 files, 8 before"
        assert entries() == {
            "broken.py": [("DEV104", 1), ("DEV104", 1)],
            "elsewhere/other.py": [("DEV104", 1), ("DEV104", 1)],
            "train.py": [("DEV104", 1)],
        }

    def test_keeps_what_the_rules_of_this_run_do_not_find(self, run):
        write("train.py", OLD)
        run("--write-baseline", "base.json")
        run("--write-baseline", "base.json", "--select", "DEV102")
        assert entries() == {"train.py": [("DEV104", 1), ("DEV104", 1)]}

    def test_twice_changes_nothing(self, run):
        write("train.py", NEW)
        run("--write-baseline", "base.json")
        before = Path("base.json").read_bytes()
        assert run("--write-baseline", "base.json") == (
            0,
            [],
            ["base.json lists 3 findings in 1 file"],
        )
        assert Path("base.json").read_bytes() == before

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            (OLD, "is no baseline: its JSON is broken: Expecting value"),
            ("{}", 'is no baseline of devicelint: it has no "devicelint-baseline"'),
            (
                '{"devicelint-baseline": 2}',
                "is a baseline of version 2; this devicelint reads 1",
            ),
        ],
    )
    def test_never_over_anything_else(self, run, text, told):
        write("train.py", text)
        assert run("--write-baseline", "train.py") == (
            2,
            [],
            [f"devicelint: --write-baseline leaves train.py as it is, which {told}"],
        )
        assert Path("train.py").read_text(encoding="utf-8") == text

    def test_over_an_empty_file_and_over_no_folder(self, run):
        write("train.py", OLD)
        write("empty.json", "\n")
        assert run("--write-baseline", "empty.json")[0] == 0
        assert run("--write-baseline", ".")[0] == 2

    def test_over_one_that_a_merge_has_broken(self, run):
        write("train.py", OLD)
        run("--write-baseline", "base.json")
        text = Path("base.json").read_text(encoding="utf-8")
        write(
            "base.json", text.replace("    ]", "<<<<<<< HEAD\n    ]\n=======\n>>>>>>> other\n", 1)
        )
        status, _, (told,) = run("--baseline", "base.json")
        assert status == 2
        assert told.startswith("base.json:7:1: is no baseline: its JSON is broken: ")
        assert told.endswith("; after a merge, --write-baseline writes it anew")
        assert run("--write-baseline", "base.json")[0] == 0
        assert run("--baseline", "base.json", "-q") == (0, [], [])

    def test_into_another_folder(self, run):
        write("train.py", OLD)
        missing = "ci/base.json:1:1: there is no folder ci"
        assert run("--write-baseline", "ci/base.json") == (2, [], [missing])
        Path("ci").mkdir()
        assert run("--write-baseline", "ci/base.json")[0] == 0
        assert list(entries("ci/base.json")) == ["../train.py"]

    def test_where_nobody_may_write(self, run):
        write("train.py", OLD)
        assert run("--write-baseline", "train.py/base.json") == (
            2,
            [],
            ["train.py/base.json:1:1: cannot be written: Not a directory"],
        )

    def test_without_what_was_asked(self, run):
        write("train.py", "import torch\nreveal_device(torch.ones(2))\n")
        assert run("--write-baseline", "base.json")[2] == ["base.json lists no findings"]
        assert entries() == {}


class TestTheSetting:
    def test_is_seen_from_the_folder_of_the_configuration(self, run, monkeypatch):
        write("devicelint.toml", 'baseline = "ci/base.json"\n')
        write("src/train.py", OLD)
        write("src/deep/devicelint.toml", 'extend = "../../devicelint.toml"\n')
        write("src/deep/train.py", OLD)
        Path("ci").mkdir()
        assert run("--write-baseline", "ci/base.json")[0] == 0
        write("src/train.py", NEW)
        monkeypatch.chdir("src")
        status, out, error = run()
        assert (status, [line.partition(" ")[0] for line in out]) == (1, ["train.py:8:1:"])
        assert error[1].startswith("Hid 4 findings listed in /")

    def test_is_overruled(self, run):
        write("devicelint.toml", 'baseline = "base.json"\n')
        write("train.py", OLD)
        assert run()[2] == [
            "base.json:1:1: there is no such baseline; --write-baseline base.json makes it"
        ]
        assert run("--no-baseline")[0] == 1
        assert run("--write-baseline", "base.json")[0] == 0
        assert run("-q") == (0, [], [])
        assert run("--no-baseline")[0] == 1
        write("other.json", '{"devicelint-baseline": 1, "files": {}}')
        assert run("--baseline", "other.json")[0] == 1

    def test_does_not_keep_adoption_from_its_work(self, run, capfd):
        write("devicelint.toml", 'baseline = "base.json"\n')
        write("train.py", OLD.replace("assert torch.cuda.is_available()\n", ""))
        run("--write-baseline", "base.json")
        main(["adopt", "train.py", "--check", "--unsafe-fixes"])
        assert "would change train.py" in capfd.readouterr().err


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "1:1: is no baseline: its JSON is broken: Expecting value"),
            ("[]", '1:1: is no baseline of devicelint: it has no "devicelint-baseline"'),
            ('{"files": {}}', '1:1: is no baseline of devicelint: it has no "devicelint-baseline"'),
            (
                '{"devicelint-baseline": 2}',
                "1:1: is a baseline of version 2; this devicelint reads 1",
            ),
            ('{"devicelint-baseline": 1}', '1:1: is no baseline: "files" must be an object'),
            (
                '{"devicelint-baseline": 1,\n "files": {"a.py": {}}}',
                '2:12: "a.py": must be a list',
            ),
            (
                '{"devicelint-baseline": 1,\n "files": {"a.py": [{"code": "DEV1"}]}}',
                (
                    '2:12: "a.py": an entry must be like {"code": "DEV101", "line":'
                    ' "0123456789abcdef", "count": 1}'
                ),
            ),
            (
                '{"devicelint-baseline": 1, "files":\n',
                "2:1: is no baseline: its JSON is broken: Expecting value",
            ),
        ],
    )
    def test_are_one_message_with_its_place(self, run, text, told):
        write("train.py", OLD)
        write("base.json", text)
        assert run("--baseline", "base.json") == (2, [], [f"base.json:{told}"])

    def test_there_is_none(self, run):
        assert run("--baseline", "none.json") == (
            2,
            [],
            ["none.json:1:1: there is no such baseline; --write-baseline none.json makes it"],
        )

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (
                ("--baseline", "a", "--write-baseline", "b"),
                "--baseline and --write-baseline contradict each other",
            ),
            (
                ("--no-baseline", "--baseline", "a"),
                "--baseline and --no-baseline contradict each other",
            ),
            (
                ("--diff", "--write-baseline", "a"),
                "--write-baseline and --diff contradict each other",
            ),
            (("--baseline", ""), "argument --baseline: must not be empty"),
            (("--write-baseline", ""), "argument --write-baseline: must not be empty"),
            (("--diff-base", ""), "argument --diff-base: must not be empty"),
        ],
    )
    def test_contradictions(self, run, words, told):
        assert run(*words) == (2, [], [f"devicelint: {told}"])


def test_the_file_is_an_entry_on_a_line_each():
    files = {"b.py": count((), SourceFile("")), "ä.py": count((), SourceFile(""))}
    files["ä.py"][Key("DEV104", "00")] = 2
    files["ä.py"][Key("DEV101", "ff")] = 1
    assert Baseline(Path("x"), files).to_text() == (
        '{\n  "devicelint-baseline": 1,\n  "files": {\n    "ä.py": [\n'
        '      {"code": "DEV101", "line": "ff", "count": 1},\n'
        '      {"code": "DEV104", "line": "00", "count": 2}\n    ]\n  }\n}\n'
    )


def test_what_is_written_is_read(tmp_path):
    source = SourceFile.from_text(NEW, "train.py")
    files = {"train.py": count(check(source).findings, source)}
    path = tmp_path / "base.json"
    path.write_text(Baseline(path, files).to_text(), encoding="utf-8")
    assert read_baseline(path).files == files


def test_a_name_that_no_encoding_can_express_is_written(tmp_path):
    path = tmp_path / "base.json"
    files = {"\udcff.py": Counter([Key("DEV104", "00")]), "a\u2028.py": Counter([Key("X", "1")])}
    path.write_bytes(Baseline(path, files).to_text().encode())
    assert read_baseline(path).files == files


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


BASELINES = st.builds(lambda files: {"devicelint-baseline": 1, "files": files}, JSON)


@settings(max_examples=50)
@given(JSON | BASELINES, st.binary())
def test_whatever_is_in_the_file_is_one_message(tmp_path_factory, content, noise):
    path = tmp_path_factory.getbasetemp() / "noise.json"
    for data in (json.dumps(content).encode(), json.dumps(content).encode()[:-1] + noise):
        path.write_bytes(data)
        told = "one line"
        try:
            Baseline(path, read_baseline(path).files).to_text().encode()
        except BaselineError as error:
            told = str(error)
        assert len(told.splitlines()) == 1


def test_the_hash_of_a_line_is_the_same_for_ever():
    source = SourceFile.from_text(OLD)
    (first, _) = check(source).findings
    assert key_of(first, source) == Key("DEV104", "133070b55e5659da")
