"""Comments that suppress findings are written where they are reported, and nothing else changes."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from devicelint.cli import main
from devicelint.config import Config
from devicelint.linter.lint import check
from devicelint.suppression.write import Style, suppress
from devicelint.text.source import SourceFile

CONFIG = Config(ignore=("unused-suppression",))
ROOT = Path(__file__).parents[2]
SETUP = "import torch\nassert torch.cuda.is_available()\nx = torch.ones(2)"
HEAD = f"{SETUP}\n"
LINEAR = """\
import torch
from torch import nn
assert torch.cuda.is_available()
m = nn.Linear(2, 2).cuda()
"""


def suppressed(text: str, style: Style = Style.NOQA, path: str = "train.py") -> SourceFile:
    """The file with its comments: they silence all, and adding them again changes nothing."""
    source = SourceFile.from_text(text, path)
    found = check(source, CONFIG).findings
    assert found
    after = suppress(source, found, style)
    assert after.left == ()
    assert check(after.source, CONFIG).findings == ()
    return after.source


class TestWhereTheCommentStands:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("x.cuda()\n", "x.cuda()  # noqa: DEV104\n"),
            ("x.cuda()", "x.cuda()  # noqa: DEV104"),
            ("x.cuda()   \n", "x.cuda()  # noqa: DEV104   \n"),
            ("x.cuda()  # moved\n", "x.cuda()  # moved  # noqa: DEV104\n"),
            ("x.cuda()  # noqa: E501\n", "x.cuda()  # noqa: E501, DEV104\n"),
            ("x.cuda()  # NOQA:E501,W291 long\n", "x.cuda()  # NOQA:E501,W291, DEV104 long\n"),
            (
                "x.cuda()  # devicelint: ignore[DEV101] why\n",
                "x.cuda()  # devicelint: ignore[DEV101] why  # noqa: DEV104\n",
            ),
            ("x.cuda(  # here\n0)\n", "x.cuda(  # here  # noqa: DEV104\n0)\n"),
            ("x.cuda(\n    0,\n)\n", "x.cuda(  # noqa: DEV104\n    0,\n)\n"),
            ("x \\\n  .cuda()\n", "x \\\n  .cuda()  # noqa: DEV104\n"),
            (
                'x.cuda(); """\ntext\n"""\n',
                'x.cuda(); """\ntext\n"""  # noqa: DEV104\n',
            ),
            (
                "x.cuda(); y = f'''\n{x}\n'''\n",
                "x.cuda(); y = f'''\n{x}\n'''  # noqa: DEV104\n",
            ),
            ("x.cuda(); x.cuda(0)\n", "x.cuda(); x.cuda(0)  # noqa: DEV104\n"),
            (
                "if x.cuda() is None: pass\nx.cuda()\n",
                "if x.cuda() is None: pass\nx.cuda()  # noqa: DEV104\n",
            ),
            ("x.cuda()\x0c\n", "x.cuda()  # noqa: DEV104\x0c\n"),
        ],
    )
    def test_as_noqa(self, before, after):
        assert suppressed(HEAD + before).text == HEAD + after

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("x.cuda()\n", "x.cuda()  # devicelint: ignore[DEV104]\n"),
            (
                "x.cuda()  # devicelint: ignore[DEV101] why\n",
                "x.cuda()  # devicelint: ignore[DEV101, DEV104] why\n",
            ),
            (
                "x.cuda()  # devicelint: ignore[mixed-devices,DEV101]\n",
                "x.cuda()  # devicelint: ignore[mixed-devices,DEV101, DEV104]\n",
            ),
            (
                "x.cuda()  # noqa: E501\n",
                "x.cuda()  # noqa: E501  # devicelint: ignore[DEV104]\n",
            ),
        ],
    )
    def test_as_a_pragma(self, before, after):
        assert suppressed(HEAD + before, Style.IGNORE).text == HEAD + after

    def test_two_rules_share_a_comment(self):
        text = LINEAR + "m(torch.ones(2, 2)), torch.ones(2).cuda() + torch.ones(2)\n"
        after = suppressed(text).text
        assert after == text.replace("torch.ones(2)\n", "torch.ones(2)  # noqa: DEV103\n")

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    def test_line_ends_stay(self, newline):
        text = (HEAD + "x.cuda()\nx = 1\n").replace("\n", newline)
        assert suppressed(text).text == text.replace(".cuda()", ".cuda()  # noqa: DEV104")

    def test_every_broken_example(self):
        for path in sorted((ROOT / "examples/broken").glob("*.py")):
            text = path.read_text(encoding="utf-8")
            if not check(SourceFile.from_text(text, str(path))).findings:
                continue
            for style in Style:
                after = suppressed(text, style, str(path)).text
                assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text))

    def test_other_encodings_stay(self):
        data = ("# coding: latin-1\n" + HEAD + "x.cuda()  # \xe9\n").encode("latin-1")
        source = SourceFile.from_bytes(data, "train.py")
        after = suppress(source, check(source).findings, Style.NOQA).source.to_bytes()
        assert after == data.replace(b"\xe9\n", b"\xe9  # noqa: DEV104\n")


def notebook(*cells: str) -> str:
    made = [
        {"cell_type": "code", "execution_count": 3, "metadata": {}, "outputs": [], "source": cell}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1)


class TestNotebooks:
    def test_the_cell_gets_it(self):
        text = notebook(SETUP, "x.cuda()\nx")
        after = suppressed(text, path="train.ipynb").to_bytes().decode()
        assert after == text.replace("x.cuda()", "x.cuda()  # noqa: DEV104")

    def test_a_magic_keeps_its_code(self):
        text = notebook(SETUP, "%time x.cuda()\nx")
        after = suppressed(text, path="train.ipynb").to_bytes().decode()
        assert after == text.replace("x.cuda()", "x.cuda()  # noqa: DEV104")


def test_what_cannot_be_written_is_left():
    data = b"# coding: iso2022_jp\n# \x1b(B\n" + (HEAD + "x.cuda()\n").encode()
    source = SourceFile.from_bytes(data, "train.py")
    found = check(source).findings
    after = suppress(source, found, Style.NOQA)
    assert [each.code for each in after.left] == ["DEV104"]
    assert after.source.to_bytes() == data


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _in_a_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("a.py").write_text(HEAD + "x.cuda()\n", encoding="utf-8")
        Path("b.py").write_text(HEAD + "x.cuda()\nx.cuda()\n", encoding="utf-8")
        Path("c.py").write_text("import torch\n", encoding="utf-8")

    def test_suppresses_all_once(self, capfd):
        assert main(["--add-noqa", "."]) == 0
        assert capfd.readouterr() == ("", "Suppressed 3 findings in 2 files\n")
        assert Path("a.py").read_text(encoding="utf-8") == HEAD + "x.cuda()  # noqa: DEV104\n"
        assert main(["--add-noqa", "."]) == 0
        assert capfd.readouterr() == ("", "Suppressed nothing\n")
        assert main(["-q", "."]) == 0

    def test_shows_first(self, capfd):
        before = Path("a.py").read_bytes()
        assert main(["--add-ignore", "--diff", "a.py"]) == 1
        out, error = capfd.readouterr()
        assert "+x.cuda()  # devicelint: ignore[DEV104]" in out.splitlines()
        assert error == "Would suppress 1 finding in 1 file\n"
        assert Path("a.py").read_bytes() == before

    def test_suppresses_what_is_selected(self, capfd):
        assert main(["--add-noqa", "--ignore", "DEV104", "."]) == 0
        assert capfd.readouterr() == ("", "Suppressed nothing\n")

    def test_leaves_what_a_baseline_knows(self, capfd):
        assert main(["--write-baseline", "base.json", "a.py"]) == 0
        assert main(["--add-noqa", "--baseline", "base.json", ".", "-q"]) == 0
        assert "noqa" not in Path("a.py").read_text(encoding="utf-8")
        assert Path("b.py").read_text(encoding="utf-8").count("noqa") == 2

    def test_leaves_what_was_asked_for(self, capfd):
        text = "import torch\nreveal_device(torch.ones(2))\n"
        Path("asked.py").write_text(text, encoding="utf-8")
        main(["--add-noqa", "asked.py"])
        assert Path("asked.py").read_text(encoding="utf-8") == text

    def test_a_read_only_file_is_told_and_the_others_go_on(self, capfd):
        Path("a.py").chmod(0o444)
        assert main(["--add-noqa", "."]) == 2
        assert capfd.readouterr() == (
            "",
            "a.py:1:1: is read-only\nSuppressed 2 findings in 1 file\n",
        )

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--add-noqa", "--fix"), "--add-noqa and --fix contradict each other"),
            (("--add-noqa", "--add-ignore"), "--add-noqa and --add-ignore contradict each other"),
            (("--add-noqa", "-"), "comments are added to files: name them, not -"),
        ],
    )
    def test_contradictions(self, capfd, words, told):
        assert main(words) == 2
        assert capfd.readouterr() == ("", f"devicelint: {told}\n")
