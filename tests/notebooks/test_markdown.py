"""The Python blocks of Markdown pages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devicelint.linter import lint
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


PROSE = st.text(st.sampled_from("ab '\"é#>*\n\r`~"), max_size=20).map(
    lambda text: text.replace("```", "").replace("~~~", "")
)


@settings(max_examples=80, deadline=None)
@given(PROSE, PROSE, PROSE)
def test_the_prose_stays(first, second, third):
    parts = (first, "\n", block(SETUP), second, "\n", block(WRONG), third)
    fixed = lint.fix(read(*parts))
    assert fixed.after.text == "".join(parts).replace(WRONG, FIXED)
