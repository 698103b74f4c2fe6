"""Notebooks through the engine: one namespace, places in cells, edits in place."""

import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devicelint.config import Config
from devicelint.finding import InputError
from devicelint.linter import lint
from devicelint.text.source import SourceError, SourceFile
from tests.notebooks.writing import code, markdown, notebook, sources, written

SETUP = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(2, 2).to(device)"""


def read(*cells, **members):
    return SourceFile.from_bytes(written(notebook(*cells, **members)), "nb.ipynb")


def found(*cells, **members):
    """The code of each finding, its cell and its line."""
    source = read(*cells, **members)
    places = ((one.code, source.location(one.span.start)) for one in lint.check(source).findings)
    return [(code, place.cell, place.line) for code, place in places]


class TestOneProgram:
    def test_cells_share_a_namespace_in_order(self):
        assert found(SETUP, "x = torch.ones(1, 2)", "y = 1\ny = model(x)") == [("DEV103", 2, 1)]

    def test_what_a_later_cell_does_comes_later(self):
        assert found(SETUP, "x = torch.ones(1, 2, device=device)\nmodel(x)", "x = x.cpu()") == []

    def test_all_cells_are_counted(self):
        assert found(markdown("# Title"), SETUP, markdown("x"), "model(torch.ones(1, 2))") == [
            ("DEV103", 4, 1)
        ]

    def test_a_message_names_the_line_and_the_cell(self):
        source = read(SETUP, "model(torch.ones(1, 2))")
        (finding,) = lint.check(source).findings
        assert "on cuda since line 4 of cell 1" in finding.message

    def test_a_source_may_be_one_string(self):
        cell = code("y = 1\nmodel(torch.ones(1, 2))", joined=True)
        assert found(SETUP, cell) == [("DEV103", 2, 2)]

    def test_a_cell_may_await(self):
        cells = "import asyncio\nawait asyncio.sleep(0)", "model(torch.ones(1, 2))"
        assert found(SETUP, *cells) == [("DEV103", 3, 1)]

    @pytest.mark.parametrize("last", ["x.cuda()", "torch.device('cuda')  # shown", "x.cuda();"])
    def test_the_last_value_of_a_cell_is_shown_and_not_thrown_away(self, last):
        first = "import torch\nassert torch.cuda.is_available()\nx = torch.ones(3)"
        assert found(first, last) == []
        thrown = [("DEV408" if "device" in last else "DEV104", 2, 1)]
        assert found(first, f"{last}\nprint(x)", "x") == thrown

    def test_what_is_shown_alone_is_in_no_other_place(self):
        setup = "import torch\nassert torch.cuda.is_available()\nx = torch.ones(3)\ny = x.cuda()"
        assert found(setup, "x.cuda()", "x + y") == [("DEV103", 1, 3)]

    def test_a_class_may_be_used_by_a_later_cell(self):
        net = (
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.scale = torch.ones(2)\n    def forward(self, x):\n"
            "        return x * self.scale\n"
        )
        cells = SETUP, net, "net = Net().to(device)\nnet(torch.ones(1, 2, device=device))"
        assert found(*cells) == [("DEV106", 2, 4)]


class TestPassedOver:
    @pytest.mark.parametrize(
        "magic",
        ["bash", "html", "javascript", "writefile x.py", "latex", "HTML", "python2", "!", "sql x"],
    )
    def test_another_language_in_silence(self, magic):
        source = read(SETUP, f"%%{magic}\nmodel.cpu(\nmodel = 3")
        assert source.notes == ()
        assert found(SETUP, f"%%{magic}\nmodel.cpu()", "model(torch.ones(1, 2))") == [
            ("DEV103", 3, 1)
        ]

    def test_a_cell_of_another_language_by_its_metadata(self):
        metadata = {"vscode": {"languageId": "sql"}}
        assert read(SETUP, code("SELECT 1", metadata=metadata)).notes == ()

    @pytest.mark.parametrize("magic", ["time", "capture out", "timeit -n 3", "prun -l 3"])
    def test_a_magic_that_runs_python_is_checked(self, magic):
        assert found(SETUP, f"%%{magic}\nmodel(torch.ones(1, 2))") == [("DEV103", 2, 2)]

    def test_a_cell_that_does_not_parse_is_told(self):
        source = read(SETUP, "a = 1\nprint a", "model(torch.ones(1, 2))")
        (note,) = source.notes
        assert str(note).startswith("nb.ipynb:cell 2:line 2:1: cell is not checked: syntax error: ")
        assert len(lint.check(source).findings) == 1

    def test_a_return_outside_of_a_function_is_no_cell(self):
        (note,) = read(SETUP, "return 3").notes
        assert "'return' outside function" in note.message

    @pytest.mark.parametrize(
        "cell",
        [
            "print model\nmodel = model.cpu()",
            "%%unheard_of\nmodel.cpu()",
            "%unheard_of model.cpu()",
            "%timeit x = model.cpu()",
            "%%timeit\nmodel = model.cpu()",
        ],
    )
    def test_what_it_mentions_is_unknown_after_it(self, cell):
        assert found(SETUP, cell, "model(torch.ones(1, 2))") == []

    def test_what_it_does_not_mention_is_known(self):
        assert found(SETUP, "print x", "model(torch.ones(1, 2))") == [("DEV103", 3, 1)]

    def test_a_cell_that_shows_an_error_on_purpose(self):
        tagged = code("model(torch.ones(1, 2))", metadata={"tags": ["raises-exception"]})
        assert found(SETUP, tagged) == []

    @pytest.mark.parametrize(
        "metadata",
        [{"language_info": {"name": "R"}}, {"kernelspec": {"language": "julia", "name": "j"}}],
    )
    def test_a_notebook_of_another_language(self, metadata):
        assert found(SETUP, "model(torch.ones(1, 2))", metadata=metadata) == []


class TestMagics:
    @pytest.mark.parametrize(
        "line",
        [
            "%matplotlib inline",
            "!pip install torch",
            "!pip install \\\n    torch",
            "!!ls",
            "?torch",
            "torch.nn?",
            "torch??",
            "%timeit -n 10 model(x)",
            "files = !ls *.py",
            "here = %pwd",
            "a, b = !ls",
            "pip install torch",
            "ls -l",
            "%load_ext autoreload\n%autoreload 2",
            "/print 3",
            'if True:\n    %time z = 3\n    !ls\nelse:\n    !echo "it\'s"',
            "%time x = torch.ones(\n",
        ],
    )
    def test_they_do_not_keep_a_cell_from_being_checked(self, line):
        if line.endswith("(\n"):
            assert len(read(SETUP, line + "1)").notes) == 1
            return
        source = read(SETUP, f"x = torch.ones(1, 2)\n{line}\nmodel(x)  # really?")
        assert source.notes == ()
        (finding,) = lint.check(source).findings
        assert source.location(finding.span.start)[:2] == (1, 4)
        fixed = lint.fix(source)
        assert sources(fixed.after.to_bytes())[1] == (
            f"x = torch.ones(1, 2, device=device)\n{line}\nmodel(x)  # really?"
        )

    def test_a_remainder_and_a_string_are_no_magics(self):
        text = 'a = ("%d"\n% 3)\nb = """\n%time\n!ls\n"""\n'
        assert f"\n{text}\n" in read(SETUP, text).code

    def test_time_runs_a_statement_here(self):
        cells = "m = nn.Linear(2, 2)", "%time m.to(device)", "%time x = torch.ones(1, 2)", "m(x)"
        assert found(SETUP, *cells) == [("DEV103", 4, 1)]

    def test_the_value_of_a_timed_expression_is_known(self):
        assert found(SETUP, "x = %time torch.ones(1, 2)\nmodel(x)") == [("DEV103", 2, 1)]

    def test_columns_are_those_of_the_cell(self):
        source = read(SETUP, "%time y = model(torch.ones(1, 2))")
        (finding,) = lint.check(source).findings
        assert source.location(finding.span.start)[:2] == (1, 16)

    def test_nothing_is_put_into_what_timeit_runs(self):
        source = read(
            SETUP, "%%timeit\nx = torch.ones(1, 2)\nmodel(x)", "%timeit model(torch.ones(1, 2))"
        )
        fixed = lint.fix(source)
        assert len(fixed.remaining) == 2
        assert fixed.after.to_bytes() == source.to_bytes()


class TestSuppression:
    @pytest.mark.parametrize("comment", ["noqa", "noqa: DEV103", "devicelint: ignore[DEV103]"])
    def test_a_comment_in_a_cell(self, comment):
        assert found(SETUP, f'!echo "it\'s"\nmodel(torch.ones(1, 2))  # {comment}') == []

    def test_a_file_is_skipped_by_its_first_cell(self):
        first = "%matplotlib inline\n# devicelint: skip-file\n"
        assert found(markdown("x"), first, SETUP, "model(torch.ones(1, 2))") == []

    def test_no_other_cell_skips_the_file(self):
        assert found(SETUP, "# devicelint: skip-file\nmodel(torch.ones(1, 2))") == [
            ("DEV103", 2, 2)
        ]


class TestFix:
    def test_a_definition_of_the_device_follows_the_imports(self):
        source = read(
            "%matplotlib inline\nimport torch\nfrom torch import nn",
            "loss = nn.L1Loss()\nif torch.cuda.is_available():\n    loss.cuda()",
            "model = nn.Linear(2, 2).cuda()",
        )
        config = Config(unsafe_fixes=True)
        first, _, last = sources(lint.fix(source, config).after.to_bytes())
        assert first.startswith(
            "%matplotlib inline\nimport torch\nfrom torch import nn\n\ndevice ="
        )
        assert not first.endswith("\n")
        assert last == "model = nn.Linear(2, 2).to(device)"

    def test_what_has_no_way_back_is_refused(self):
        source = read(SETUP, "%time x = 1")
        for text in (source.text.replace("%time x", "x"), source.text.replace("# %%", "# %", 1)):
            with pytest.raises(SourceError):
                source.with_text(text)

    def test_fixing_twice_changes_nothing(self):
        once = lint.fix(read(SETUP, "%time x = torch.ones(1, 2)\nmodel(x)")).after.to_bytes()
        twice = lint.fix(SourceFile.from_bytes(once, "nb.ipynb"))
        assert twice.applied == ()
        assert twice.after.to_bytes() == once

    def test_what_is_written_is_valid(self):
        data = lint.fix(read(markdown("#"), SETUP, "model(torch.ones(1, 2))")).after.to_bytes()
        nbformat.validate(json.loads(data))


PROGRAM = [SETUP, "x = torch.ones(1, 2)\n\n!ls\ny = model(x)  # é\n", "print('ü')\nz = model(x)\n"]


class TestEveryOtherByte:
    @pytest.mark.parametrize(
        "style",
        [
            {},
            {"indent": 4},
            {"indent": "\t", "sort_keys": True},
            {"ensure_ascii": True},
            {"indent": None, "separators": (",", ":")},
            {"indent": None},
        ],
    )
    @pytest.mark.parametrize("join", [True, False])
    def test_the_layout_stays(self, style, join):
        def document(second):
            cells = [code(text, join) for text in (PROGRAM[0], second, PROGRAM[2])]
            return written(notebook(markdown("é"), *cells), **style)

        fixed = lint.fix(SourceFile.from_bytes(document(PROGRAM[1]), "nb.ipynb"))
        fixed_text = PROGRAM[1].replace("(1, 2)", "(1, 2, device=device)")
        assert fixed.after.to_bytes() == document(fixed_text)

    def test_a_byte_order_mark_and_no_last_newline_stay(self):
        data = b"\xef\xbb\xbf" + written(notebook(*PROGRAM)).rstrip(b"\n")
        fixed = lint.fix(SourceFile.from_bytes(data, "nb.ipynb"))
        assert fixed.after.to_bytes() == data.replace(b"ones(1, 2)", b"ones(1, 2, device=device)")

    def test_lines_that_stay_are_written_as_they_were(self):
        odd = rb'["\u0078 = torch.ones(1, 2)\n" , "model(x)  # \u00e9 \/\n","y = \"\ud83d\ude00\""]'
        data = written(notebook(SETUP, "HERE")).replace(b'[\n    "HERE"\n   ]', odd)
        fixed = lint.fix(SourceFile.from_bytes(data, "nb.ipynb"))
        assert fixed.after.to_bytes() == data.replace(
            rb"\u0078 = torch.ones(1, 2)", b"x = torch.ones(1, 2, device=device)"
        )

    def test_the_last_of_several_equal_keys_counts(self):
        data = written(notebook(SETUP, "model(torch.ones(1, 2))")).replace(
            b'"source": [\n    "model',
            b'"source": "model(torch.ones(1, 2))",\n   "source": [\n    "model',
        )
        after = lint.fix(SourceFile.from_bytes(data, "nb.ipynb")).after.to_bytes()
        assert after.count(b"device=device") == 1
        assert json.loads(after)["cells"][1]["source"] == ["model(torch.ones(1, 2, device=device))"]


TEXTS = st.text(st.sampled_from("ab é\n\r\"\\/😀%!?#'\t\x0c"), max_size=12)
OTHER_CELLS = st.one_of(
    TEXTS.map(markdown), TEXTS.map(lambda text: code(f"%%bash\n{text}")), TEXTS.map(code)
)
STYLES = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 1, 2, "\t"]),
        "ensure_ascii": st.booleans(),
        "sort_keys": st.booleans(),
    }
)


@settings(max_examples=60, deadline=None)
@given(st.lists(OTHER_CELLS, max_size=3), st.lists(OTHER_CELLS, max_size=3), STYLES, st.booleans())
def test_nothing_changes_but_the_source_of_the_cell(before, after, style, join):
    def document(text):
        cells = (code(SETUP), *before, code(text, join), *after)
        return written(notebook(*cells), **style)

    wrong = "a = 3  # é\nmodel(torch.ones(1, 2))\nb = 'ü'"
    fixed = lint.fix(SourceFile.from_bytes(document(wrong), "nb.ipynb"))
    expected = document(wrong.replace("(1, 2)", "(1, 2, device=device)"))
    # What cannot be read may have changed the model: then nothing is found.
    assert fixed.after.to_bytes() in (expected, document(wrong))
    assert (fixed.after.to_bytes() == expected) == bool(fixed.applied)


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXTS, max_size=5), STYLES)
def test_a_notebook_is_given_back(texts, style):
    data = written(notebook(SETUP, *texts), **style)
    source = SourceFile.from_bytes(data, "nb.ipynb")
    assert source.to_bytes() == data
    assert len(source.code) == len(source.text)
    longer = source.with_text("# more\n" + source.text).to_bytes()
    assert sources(longer) == ["# more\n" + SETUP, *texts]


class TestBadInput:
    @pytest.mark.parametrize(
        ("data", "told"),
        [
            (b"", "nb.ipynb:1:1: is no notebook: it is empty"),
            (b" \n", "nb.ipynb:1:1: is no notebook: it is empty"),
            (b"{", "nb.ipynb:1:2: is no notebook: its JSON is broken: "),
            (b'{\n "cells": [,]}', "nb.ipynb:2:12: is no notebook: its JSON is broken: "),
            (b"[]", "nb.ipynb:1:1: is no notebook: its JSON is no object"),
            (b"{}", "nb.ipynb:1:1: is no notebook: it has no list of cells"),
            (
                b'{"nbformat": 4, "cells": {}}',
                "nb.ipynb:1:1: is no notebook: it has no list of cells",
            ),
            (b'{"nbformat": 4, "cells": [3]}', "nb.ipynb:cell 1:line 1:1: is no notebook: "),
            (
                b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}',
                "nb.ipynb:cell 1:line 1:1: is no ",
            ),
            (
                b'{"nbformat": 3, "worksheets": []}',
                "nb.ipynb:1:1: is a notebook of the old format 3",
            ),
            (b"\x89PNG\0", "nb.ipynb:1:1: is a binary file"),
            (b'{"cells": "\xff"}', "nb.ipynb:1:12: is not UTF-8 (byte 0xff)"),
            (b"[" * 100_000, "nb.ipynb:1:1: is no notebook: its JSON is nested too deeply"),
            (
                b"version https://git-lfs.github.com/spec/v1\n",
                "nb.ipynb:1:1: is no notebook: it is a",
            ),
        ],
    )
    def test_it_is_told_in_one_line(self, data, told):
        with pytest.raises(InputError) as raised:
            SourceFile.from_bytes(data, "nb.ipynb")
        assert str(raised.value).startswith(told)
        assert "\n" not in str(raised.value)

    @pytest.mark.parametrize("cell", ["x = '\ud800'", "x = '\0'", "(" * 1000])
    def test_a_cell_that_nobody_can_read_is_passed_over(self, cell):
        document = json.dumps(notebook(SETUP, cell, "model(torch.ones(1, 2))"))
        source = SourceFile.from_bytes(document.encode(), "nb.ipynb")
        assert len(source.notes) == 1
        assert len(lint.check(source).findings) == 1
        assert source.to_bytes() == document.encode()

    def test_no_cells_is_no_mistake(self):
        assert found() == []
