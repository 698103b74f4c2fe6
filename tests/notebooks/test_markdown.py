"""The Python blocks of Markdown pages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devicelint.finding import Edit, Span
from devicelint.linter import lint
from devicelint.text.documents.document import Unwritable
from devicelint.text.documents.quoted import fitted
from devicelint.text.source import SourceError, SourceFile
from devicelint.views import show

SETUP = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(2, 2).to(device)
"""
WRONG = "y = model(torch.ones(1, 2))\n"
FIXED = "y = model(torch.ones(1, 2, device=device))\n"


def block(code, info="python", fence="```"):
    return f"{fence}{info}\n{code}{fence}\n"


def read(*parts):
    return SourceFile.from_bytes("".join(parts).encode(), "page.md")


def lines(*parts):
    """The line of each finding."""
    source = read(*parts)
    return [source.position(one.span.start).line for one in lint.check(source).findings]


class TestBlocks:
    @pytest.mark.parametrize(
        "info", ["python", "py", "python3", "Python", "python title=x", "{.python}", "{.python .x}"]
    )
    def test_what_is_python(self, info):
        assert lines("# A\n\n", block(SETUP + WRONG, info)) == [8]

    @pytest.mark.parametrize(
        "info", ["", "pycon", "text", "pytb", "python-console", "console", "{.text}", "diff", "py2"]
    )
    def test_what_is_not(self, info):
        source = read(block(SETUP + WRONG, info))
        assert lint.check(source).findings == ()
        assert source.notes == ()

    @pytest.mark.parametrize("fence", ["````", "~~~", "~~~~~"])
    def test_other_fences(self, fence):
        assert lines(block(SETUP + WRONG, fence=fence)) == [6]

    def test_a_fence_within_a_longer_one_is_text(self):
        assert lines(f"````text\n{block(SETUP + WRONG)}````\n") == []

    def test_the_last_block_may_stay_open(self):
        assert lines(f"```python\n{SETUP}{WRONG}") == [6]

    def test_a_block_in_a_comment_is_not_shown(self):
        assert lines(f"<!--\n{block(SETUP + WRONG)}-->\n") == []

    def test_a_block_in_a_list(self):
        code = "".join(f"   {line}\n" for line in (SETUP + WRONG).splitlines())
        source = read(f"1. So:\n\n   ```python\n{code}   ```\n")
        fixed = lint.fix(source)
        assert fixed.after.text == source.text.replace("(1, 2)", "(1, 2, device=device)")
        assert len(fixed.applied) == 1

    def test_a_prompt_is_no_script(self):
        source = read(block(">>> import torch\n>>> x = torch.ones(3)\n"))
        assert source.notes == ()

    def test_the_tab_of_another_framework_is_not_for_torch(self):
        tabs = (block(f"#@tab {name}\n{WRONG}") for name in ("mxnet", "pytorch", "all"))
        assert lines(block(SETUP), *tabs) == [13, 17]

    def test_a_block_that_does_not_parse_is_told(self):
        source = read("import torch\n\n", block("x = ...,\ny = <your tensor>\n"))
        (note,) = source.notes
        assert str(note).startswith("page.md:5:5: block is not checked: syntax error: ")

    def test_magics(self):
        assert lines(block("!pip install torch\n" + SETUP + WRONG)) == [7]


class TestNamespaces:
    def test_a_block_goes_on_from_the_one_before(self):
        assert lines(block(SETUP), "Then:\n\n", block(WRONG)) == [10]

    def test_one_that_imports_torch_starts_anew(self):
        assert lines(block(SETUP), block("import torch\n" + WRONG)) == []

    def test_a_name_of_another_start_is_unknown(self):
        other = "from torch import nn\nx = torch.ones(1, 2)\n"
        assert lines(block(SETUP), block(other), block("model(x)\n")) == []


class TestComments:
    @pytest.mark.parametrize("comment", ["noqa", "noqa: DEV103", "devicelint: ignore[DEV103]"])
    def test_a_line(self, comment):
        assert lines(block(SETUP + WRONG.rstrip() + f"  # {comment}\n")) == []

    def test_an_apostrophe_in_the_text_is_no_quote(self):
        assert lines("It's\n", block(SETUP + WRONG.rstrip() + "  # noqa\n"), "don't\n") == []

    def test_a_page(self):
        assert lines("<!-- devicelint: skip-file -->\n", block(SETUP + WRONG)) == []

    def test_a_block(self):
        skipped = block("# devicelint: skip-file\n" + WRONG)
        assert lines(block(SETUP), skipped, block(WRONG)) == [12]


class TestFix:
    def test_the_block_is_fixed_where_it_stands(self):
        page = "# It's\r\n\n", block(SETUP), "* text\n\n", block(WRONG), "more"
        fixed = lint.fix(read(*page))
        assert fixed.after.to_bytes() == "".join(page).replace(WRONG, FIXED).encode()
        assert fixed.remaining == ()

    def test_what_is_not_python_stays(self):
        source = read("a\n", block(SETUP), "b\n", block(WRONG))
        for old, new in (("b\n", "c\n"), ("a\n", "")):
            with pytest.raises(SourceError, match="more than the Python of the page"):
                source.with_text(source.text.replace(old, new, 1))

    def test_trace_and_why(self):
        source = read("# A\n", block(SETUP), block(WRONG))
        assert (9, ("y: cuda",)) in show.trace(source).lines
        (call, *_) = show.why(source, 9).accounts
        assert call.device == "cuda"
        assert [step.line for step in call.steps] == [6, 6]


def inside(prefix, text, blank=None):
    """The lines of a text as a container shows them."""
    blank = prefix.rstrip() if blank is None else blank
    lines_of_text = text.splitlines(keepends=True)
    return "".join((prefix if line.strip() else blank) + line for line in lines_of_text)


class TestContainers:
    """Block quotes, lists and what MkDocs adds to them."""

    @pytest.mark.parametrize(
        ("before", "prefix", "after"),
        [
            ("", "> ", ""),
            ("", ">", ""),
            ("> Text,\n", "> ", "and more.\n"),
            ("", "> > ", "> text\n"),
            ("* one\n", "  > ", ""),
            ("1. one\n   - two\n", "     > > ", "\n   three\n"),
            ("> 1. one\n", ">    ", ""),
            ("- one\n\n", "\t", ""),
            ("!!! note\n", "    ", "text\n"),
            ('???+ tip "See"\n    Text.\n\n', "    ", ""),
            ('=== "PyTorch"\n\n', "    ", '\n=== "JAX"\n\n    text\n'),
            ("> !!! note\n", ">     ", ""),
        ],
    )
    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_findings_and_fixes_are_where_the_page_has_them(self, before, prefix, after, newline):
        page = before + inside(prefix, block(SETUP + WRONG)) + after
        page = page.replace("\n", newline)
        source = read(page)
        (finding,) = lint.check(source).findings
        place = source.position(finding.span.start)
        assert source.line_text(place.line)[place.column :].startswith("torch.ones(1, 2)")
        fixed = lint.fix(source)
        assert fixed.after.to_bytes().decode() == page.replace("(1, 2)", "(1, 2, device=device)")
        assert fixed.remaining == ()

    def test_lines_that_a_fix_puts_in_are_quoted(self):
        page = "> So:\n>\n" + inside("> ", block(SETUP + "torch.cuda.synchronize()\n"))
        assert lint.fix(read(page)).after.text == page.replace(
            "> torch.cuda.sync", "> if torch.cuda.is_available():\n>     torch.cuda.sync"
        )

    def test_a_container_that_ends_ends_its_block(self):
        page = inside("> ", f"```python\n{SETUP}") + WRONG + "```\n"
        assert lines(page) == []
        assert read(page).document.blocks[0].span.end == page.index(WRONG)

    def test_indented_code_is_no_block(self):
        assert lines("Write:\n\n", inside("    ", block(SETUP + WRONG))) == []

    def test_a_fence_in_a_docstring_closes_nothing(self):
        documented = 'def f():\n    """Call it.\n\n    ```\n    f()\n    ```\n    """\n'
        assert lines(block(SETUP + documented + WRONG)) == [13]

    def test_blanks_before_a_fence_are_those_of_its_lines(self):
        assert lines("  ```python\n", inside("  ", SETUP + WRONG), " ```\n") == [6]

    def test_lines_that_begin_in_different_columns_are_told(self):
        page = "> ```python\n> import torch\n>x = torch.ones(3)\n> ```\n"
        (note,) = read(page).notes
        assert str(note) == (
            "page.md:2:1: block is not checked: its lines do not all begin in the same column"
        )

    def test_lines_that_begin_differently_have_fixes_within_lines(self):
        code = SETUP + "y = model(\n    torch.ones(1, 2)\n)\ntorch.cuda.synchronize()\n"
        page = inside("> ", block(code)).replace(">     torch", ">torch")
        fixed = lint.fix(read(page))
        assert fixed.after.text == page.replace("(1, 2)", "(1, 2, device=device)")
        (left,) = fixed.remaining
        assert (left.code, left.unfixed) == ("DEV402", "its fix cannot be written at that place")

    def test_comments_suppress(self):
        assert lines(inside("> ", block(SETUP + WRONG.rstrip() + "  # noqa\n"))) == []


PAGE = "> ```python\n> if a:\n>     b = (1,\n>         2)\n> ```\n"


class TestFitted:
    """Edits of the code of a quote, whose prefix is blank to those who make them."""

    @pytest.mark.parametrize(
        ("old", "new", "result"),
        [
            # Within a line, and within its indentation.
            ("b", "c", "> if a:\n>     c = (1,\n>         2)\n"),
            ("(1,\n>         2)", "1", "> if a:\n>     b = 1\n"),
            (">     b", "  b", "> if a:\n> b = (1,\n>         2)\n"),
            # Whole lines.
            (">     b", "      c\n\n      b", "> if a:\n>     c\n>\n>     b = (1,\n>         2)\n"),
            (">         2)\n", "", "> if a:\n>     b = (1,\n"),
            # From the middle of a line.
            ("if a:\n", "x\n  if a:\n", "> x\n> if a:\n>     b = (1,\n>         2)\n"),
        ],
    )
    def test_written(self, old, new, result):
        start = PAGE.index(old, 12)
        edit = Edit(Span(start, start + len(old)), new)
        after = PAGE[:start] + fitted(PAGE, edit, "> ").content + PAGE[start + len(old) :]
        assert after == f"> ```python\n{result}> ```\n"

    @pytest.mark.parametrize("by", [0, 2])
    def test_indentation_is_put_in_and_taken_out_after_the_prefix(self, by):
        start = PAGE.index(">     b")
        edit = fitted(PAGE, Edit(Span(start, start + by), "" if by else "    "), "> ")
        assert edit.span == Span(start + 2, start + 2 + by)

    @pytest.mark.parametrize(
        ("old", "new", "prefix"),
        [
            (">     b", "b", "> "),
            (">     b", "x\n      b", "> "),
            ("a:", "c:\nif a:", "> "),
            (":\n", "", "> "),
            ("     b", "      b", "> "),
            ("a:", "c:\n  if a:", None),
            (">     b", "      b", None),
        ],
    )
    def test_not_writable(self, old, new, prefix):
        start = PAGE.index(old, 12)
        with pytest.raises(Unwritable):
            fitted(PAGE, Edit(Span(start, start + len(old)), new), prefix)


PROSE = st.text(st.sampled_from("ab '\"é#>*\n\r`~"), max_size=20).map(
    lambda text: text.replace("```", "").replace("~~~", "")
)


@settings(max_examples=80, deadline=None)
@given(PROSE, PROSE, PROSE)
def test_the_prose_stays(first, second, third):
    parts = (first, "\n", block(SETUP), second, "\n", block(WRONG), third)
    fixed = lint.fix(read(*parts))
    assert fixed.after.text == "".join(parts).replace(WRONG, FIXED)
