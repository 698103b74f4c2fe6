"""Where places of a document lie in its file, before and after a fix."""

import json

from devicelint.finding import Edit, Span
from devicelint.output.written import Region, Written
from devicelint.text.source import SourceFile
from tests.output import samples

PAGE = "# é\n\n```python\nimport torch\nx = torch.ones(2)\n```\n"


def test_a_page_is_its_own_text():
    source = SourceFile.from_text(PAGE, "page.md")
    written = Written(source)
    where = samples.span(PAGE, "torch.ones(2)")
    assert written.region(written.span(where)) == Region(5, 5, 5, 18)
    later, sooner = Edit(Span(where.end, where.end), "\n"), Edit(Span(where.start, where.end), "1")
    assert written.edits((later, sooner)) == (sooner, later)


def notebook(*cells: str) -> SourceFile:
    raw = json.dumps(samples.notebook_of(cells, as_lists=True), indent=1)
    return SourceFile.from_text(raw, "n.ipynb")


def test_a_notebook_that_a_fix_has_changed_is_as_it_lies_there_now():
    before = notebook("import torch\nx = 1\n", "y = x\n")
    after = before.with_text(before.text.replace("x = 1", "x = 1\nx = 2\nx = 3"))
    written = Written(after)
    line = written.region(written.span(samples.span(after.text, "y = x"))).start_line
    assert after.document is not None
    assert after.document.to_text().splitlines()[line - 1] == '    "y = x\\n"'


def test_where_blank_lines_were_left_out_nobody_knows_the_place():
    before = notebook("import torch\nx = 1", "y = 2\n")
    after = before.with_text(before.text.replace("x = 1", "\n"))
    written = Written(after)
    where = samples.span(after.text, "y = 2")
    assert written.region(written.span(where)) == Region(1, 1, 1, 1)
    assert written.edits((Edit(where, "z"),)) == ()


def test_an_edit_that_would_change_a_magic_is_none():
    source = notebook("import torch\n%time x = 1\n")
    where = samples.span(source.text, "%time")
    assert Written(source).edits((Edit(where, "%who"),)) == ()
