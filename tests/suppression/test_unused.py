"""Comments that suppress nothing: which are told, and what is left of them."""

from __future__ import annotations

import json

import pytest

from devicelint.config import Config
from devicelint.linter.lint import check, fix
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

HEAD = "import torch\nassert torch.cuda.is_available()\nx = torch.ones(2)\n"


def fixed_text(text: str, config: Config | None = None, path: str = "train.py") -> str:
    source = SourceFile.from_text(text, path)
    fixed = fix(source, config, Project())
    assert not [each for each in fixed.remaining if each.code == "DEV901"]
    return fixed.after.to_bytes().decode()


def told(text: str, config: Config | None = None, path: str = "train.py") -> list[str]:
    found = check(SourceFile.from_text(text, path), config, Project()).findings
    return [each.message for each in found if each.code == "DEV901"]


class TestWhatIsLeft:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("y = 1  # noqa: DEV104\n", "y = 1\n"),
            ("y = 1  # noqa: DEV104", "y = 1"),
            ("y = 1\t# noqa: DEV104   \n", "y = 1\n"),
            ("y = 1  # noqa: DEV104, DEV101\n", "y = 1\n"),
            ("y = 1  # noqa: E501, DEV104\n", "y = 1  # noqa: E501\n"),
            ("y = 1  # noqa:DEV104,E501 long\n", "y = 1  # noqa:E501 long\n"),
            ("y = 1  # noqa: DEV104 DEV101 E501 DEV102\n", "y = 1  # noqa: E501\n"),
            ("y = 1  # noqa: E501,DEV104,W291,DEV1\n", "y = 1  # noqa: E501,W291\n"),
            ("y = 1  # noqa: DEV104  # type: ignore\n", "y = 1  # type: ignore\n"),
            ("y = 1  # type: ignore  # noqa: DEV104\n", "y = 1  # type: ignore\n"),
            ("y = 1  # noqa: DEV104 see #12  # x\n", "y = 1  # x\n"),
            ("y = 1  # devicelint: ignore\n", "y = 1\n"),
            ("y = 1  # devicelint: ignore because\n", "y = 1\n"),
            ("y = 1  # devicelint: ignore[DEV104] because\n", "y = 1\n"),
            ("y = 1  # devicelint: ignore[DEV104\n", "y = 1\n"),
            ("y = 1  # devicelint: ignore[DEV1, discarded-move]\n", "y = 1\n"),
            ("y = 1  # devicelint: ignore[DEV101]  # noqa: DEV104\n", "y = 1\n"),
            ("y = 1  # noqa: E501  # devicelint: ignore[DEV101]\n", "y = 1  # noqa: E501\n"),
            ("# noqa: DEV104\ny = 1\n", "y = 1\n"),
            ("if x is None:\n    # noqa: DEV104\n    y = 1\n", "if x is None:\n    y = 1\n"),
            ("y = 1\n# noqa: DEV104", "y = 1\n"),
            ("y = (\n    1,  # noqa: DEV104\n    2,\n)\n", "y = (\n    1,\n    2,\n)\n"),
        ],
    )
    def test_after_a_fix(self, before, after):
        assert fixed_text(HEAD + before) == HEAD + after

    @pytest.mark.parametrize("newline", ["\r\n", "\r"])
    def test_line_ends_stay(self, newline):
        text = (HEAD + "# noqa: DEV104\ny = 1  # noqa: DEV104\n").replace("\n", newline)
        assert fixed_text(text) == (HEAD + "y = 1\n").replace("\n", newline)

    @pytest.mark.parametrize(
        "text",
        [
            "x.cuda()  # noqa: DEV104\n",
            "x.cuda()  # devicelint: ignore\n",
            "x.cuda(  # devicelint: ignore[DEV104]\n    0)\n",
            "x.cuda(\n    0)  # noqa: DEV1\n",
            "x.cuda(  # noqa: DEV104\n    0)  # noqa: DEV104\n",
            "y = 1  # noqa\n",
            "y = 1  # noqa: E501\n",
            "y = 1  # noqa: DEVX\n",
            "y = 1  # noqa: DEV1011\n",
            "y = 1  # devicelint: ignore[DEV9999]\n",
            "y = 1  # devicelint: ignore[]\n",
            "y = 1  # noqa: DEV104, DEV901\n",
            "y = 1  # noqa: DEV104  # devicelint: ignore[unused-suppression]\n",
            "y = '# noqa: DEV104'\n",
            "y = torch.ones(2).cuda()  # noqa: DEV601\n",
        ],
    )
    def test_what_is_of_use_or_none_of_ours_stays(self, text):
        assert told(HEAD + text) == []
        assert "noqa" not in text or fixed_text(HEAD + text) == HEAD + text


def test_findings_stay_in_the_order_of_the_text():
    found = check(SourceFile(HEAD + "y = 1  # noqa: DEV104\nx.cuda()\n"), None, Project()).findings
    assert [each.code for each in found] == ["DEV901", "DEV104"]


class TestWhereItIsTold:
    def test_where_torch_is_not_named(self):
        assert told("y = 1  # noqa: DEV104\n") == ["`# noqa: DEV104` suppresses nothing"]
        assert fixed_text("y = 1  # devicelint: ignore[DEV104]\n") == "y = 1\n"

    def test_not_in_a_file_that_is_skipped(self):
        assert told("# devicelint: skip-file\ny = 1  # noqa: DEV104\n") == []

    @pytest.mark.parametrize(
        "config",
        [
            Config(select=("DEV901",)),
            Config(select=("unused-suppression", "DEV102")),
            Config(ignore=("DEV104",)),
        ],
    )
    def test_whatever_is_selected_besides(self, config):
        text = HEAD + "x.cuda()  # noqa: DEV104\ny = 1  # noqa: DEV104\n"
        assert told(text, config) == ["`# noqa: DEV104` suppresses nothing"]
        assert [each.code for each in check(SourceFile(text), config, Project()).findings] == [
            "DEV901"
        ]

    @pytest.mark.parametrize(
        "config",
        [
            Config(select=("DEV1",)),
            Config(ignore=("DEV9",)),
            Config(per_file_ignores=(("train.py", ("DEV901",)),)),
        ],
    )
    def test_not_where_it_is_off(self, config):
        assert told(HEAD + "y = 1  # noqa: DEV104\n", config) == []

    @pytest.mark.parametrize(
        ("imports", "is_told"),
        [
            ("import os.path as p, torch.nn as nn\nfrom torch.nn import functional", True),
            ("from . import parts", False),
            ("from .parts import build", False),
            ("import os, parts", False),
            ("if x is None:\n    from parts import build", False),
        ],
    )
    def test_only_without_imports_where_none_are_followed(self, imports, is_told):
        source = SourceFile(f"{HEAD}{imports}\ny = 1  # noqa: DEV104\n")
        assert bool(check(source).findings) is is_told

    def test_not_of_what_an_import_explains(self, tmp_path):
        (tmp_path / "parts.py").write_text(
            "from torch import nn\n\n\ndef build():\n    return nn.Linear(2, 2).cuda()\n"
        )
        path = tmp_path / "train.py"
        text = "import torch\nfrom parts import build\n\nmodel = build()\n"
        path.write_text(text + "model(torch.ones(1, 2))  # noqa: DEV103\n")
        assert told(path.read_text(), path=str(path)) == []
        (tmp_path / "parts.py").write_text("def build():\n    return print\n")
        assert told(path.read_text(), path=str(path)) == ["`# noqa: DEV103` suppresses nothing"]

    def test_not_of_what_is_not_heard_in_this_file(self):
        config = Config(per_file_ignores=(("train.py", ("DEV104",)),))
        assert told(HEAD + "y = 1  # noqa: DEV104\n", config) == []
        assert told(HEAD + "y = 1  # devicelint: ignore\n", config) == []

    def test_only_what_is_selected_is_told_of_what_is_checked_for_it(self):
        text = HEAD + "y = torch.ones(2)\nz = y.cuda()  # noqa: DEV6\n"
        text += "y = torch.ones(2).cuda()\n"
        assert {each.code for each in check(SourceFile(text), None, Project()).findings} <= {
            "DEV901",
            "DEV409",
        }

    def test_in_a_cell_of_a_notebook(self):
        text = notebook("import torch\n", "x = torch.ones(2)  # noqa: DEV104\nx")
        assert fixed_text(text, path="train.ipynb") == text.replace("  # noqa: DEV104", "")

    def test_not_beside_a_cell_that_cannot_be_read(self):
        text = notebook("import torch\n", "x = (", "x = torch.ones(2)  # noqa: DEV104\nx")
        assert told(text, path="train.ipynb") == []


def notebook(*codes: str) -> str:
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": []}
    cells = [cell | {"source": code} for code in codes]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


class TestBesideOtherFixes:
    def test_a_comment_that_a_fix_makes_useless_goes_with_it(self):
        text = "import torch\nfrom torch import nn\nm = nn.Linear(2, 2).cuda()\n"
        text += "x = torch.ones(1, 2)\nm(x)\nx + m(x)  # noqa: DEV102\n"
        after = fixed_text(text)
        assert "noqa" not in after
        assert 'device="cuda"' in after
