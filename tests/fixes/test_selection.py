"""Choosing fixes that can be made together, and making them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devicelint.finding import Edit, Finding, Fix, Severity, Span
from devicelint.fixes import apply, edits_of, select

TEXTS = st.text(alphabet="ab\n\r\f\u00e9\U0001f525", max_size=12)


def edit(start: int, end: int, content: str) -> Edit:
    return Edit(Span(start, end), content)


def finding(*edits: Edit, code: str = "DEV101") -> Finding:
    return Finding(code, "a-rule", Severity.ERROR, "moves", Span(0, 0), fix=Fix("moves", edits))


@st.composite
def texts_with_findings(draw: st.DrawFn) -> tuple[str, list[Finding]]:
    text = draw(TEXTS)
    offsets = st.integers(0, len(text))
    spans = st.tuples(offsets, offsets).map(lambda pair: Span(min(pair), max(pair)))
    contents = st.sampled_from(["", "x", ", k=1", ", j=2", "y\n", "\nz", "(", ").cpu()", ".cpu()"])
    edits = st.builds(Edit, spans, contents)

    def apart(several: list[Edit]) -> bool:
        return not any(a.span.overlaps(b.span) for a in several for b in several if a is not b)

    ordered = st.lists(edits, min_size=1, max_size=3, unique=True).filter(apart)
    return text, draw(st.lists(ordered.map(lambda each: finding(*sorted(each))), max_size=5))


@given(texts_with_findings())
def test_what_is_selected_can_be_applied(example: tuple[str, list[Finding]]) -> None:
    text, findings = example
    chosen = select(findings)
    after = apply(text, edits_of(chosen))
    removed = sum(each.span.end - each.span.start for each in edits_of(chosen))
    added = sum(len(each.content) for each in edits_of(chosen))
    assert len(after) == len(text) - removed + added


@given(texts_with_findings())
def test_selecting_again_changes_nothing(example: tuple[str, list[Finding]]) -> None:
    _, findings = example
    assert select(select(findings)) == select(findings)


@given(texts_with_findings())
def test_the_first_fix_is_always_made(example: tuple[str, list[Finding]]) -> None:
    _, findings = example
    assert select(findings)[:1] == tuple(findings[:1])


@given(TEXTS)
def test_no_edits_change_nothing(text: str) -> None:
    assert apply(text, ()) == text


@given(TEXTS, st.data())
def test_edits_replace_what_they_cover_and_nothing_else(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    edits = [edit(start, end, f"<{index}>") for index, (start, end) in enumerate(pairs)]
    pieces = []
    position = 0
    for each in edits:
        pieces += [text[position : each.span.start], each.content]
        position = each.span.end
    assert apply(text, edits[::-1] if len(set(cuts)) == len(cuts) else edits) == "".join(
        (*pieces, text[position:])
    )


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply("ab", [edit(1, 1, "x"), edit(0, 0, "-"), edit(1, 1, "y")]) == "-axyb"


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply("abc", [edit(0, 2, ""), edit(1, 3, "")])
    with pytest.raises(ValueError, match="end of the text"):
        apply("abc", [edit(2, 4, "")])


def test_a_shared_edit_is_made_once() -> None:
    define = edit(0, 0, "device = d\n")
    findings = [finding(define, edit(3, 3, ".to(device)")), finding(define, edit(6, 6, ", k=1"))]
    assert select(findings) == tuple(findings)
    assert apply("f(a, b)", edits_of(findings)) == "device = d\nf(a.to(device), b, k=1)"


def test_the_same_fix_of_two_findings_is_made_once() -> None:
    findings = [finding(edit(1, 1, ".cpu()")), finding(edit(1, 1, ".cpu()"), code="DEV202")]
    assert select(findings) == tuple(findings)
    assert apply("x", edits_of(findings)) == "x.cpu()"


def test_nested_fixes_are_made_together() -> None:
    findings = [finding(edit(8, 8, ", k=1")), finding(edit(7, 7, ", k=1"))]
    assert select(findings) == tuple(findings)
    assert apply("f(f(f(a)))", edits_of(findings)) == "f(f(f(a, k=1), k=1))"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (", k=1", ", j=2"),
        ("a = 1\n", "b = 1\n"),
        ("\r\na", "\r\nb"),
    ],
)
def test_neighbours_that_stand_in_any_order_are_made_together(first: str, second: str) -> None:
    findings = [finding(edit(1, 1, first)), finding(edit(1, 1, second))]
    assert select(findings) == tuple(findings)
    assert apply("xy", edits_of(findings)) == f"x{first}{second}y"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (edit(0, 3, "a"), edit(2, 4, "b")),
        (edit(0, 3, "a"), edit(1, 1, "b")),
        (edit(0, 3, "a"), edit(3, 3, ".cpu()")),
        (edit(1, 1, ".cpu()"), edit(1, 1, ".to(device)")),
        (edit(1, 1, "k=1"), edit(1, 1, "j=2")),
        (edit(1, 1, "("), edit(1, 1, "(")),
        (edit(1, 2, "a"), edit(1, 2, "b")),
    ],
)
def test_the_second_of_two_that_do_not_get_on_waits(first: Edit, second: Edit) -> None:
    findings = [finding(first), finding(second)]
    assert select(findings) == (findings[0],)
    assert select(findings[::-1]) == (findings[1],)


def test_findings_without_a_fix_are_passed_over() -> None:
    assert select([Finding("DEV101", "a-rule", Severity.NOTE, "x", Span(0, 0)), finding()]) == ()
