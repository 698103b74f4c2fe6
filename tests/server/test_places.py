"""Positions as editors count them, and what an edit of a text comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range

from devicelint.finding import Span
from devicelint.server.actions import edits_between
from devicelint.server.analysis import Shift
from devicelint.server.lines import Lines
from devicelint.server.settings import ServerSettings, read_settings
from devicelint.text.edits import apply

TEXTS = st.text(alphabet=list("ab\n\r\té\u2028\x0c\U0001f600\ud800"), max_size=30)
RULES = {"DEV101": "module-input-elsewhere", "DEV601": "blocking-copy"}


@pytest.mark.parametrize(
    ("encoding", "column"), [("utf-8", 8), ("utf-16", 5), ("utf-32", 4)], ids=str
)
def test_a_column_counts_code_units(encoding, column):
    lines = Lines("x\r\nxé\U0001f600y\n", encoding)
    assert lines.position(6) == Position(1, column - 1)
    assert lines.position(7) == Position(1, column)
    assert lines.offset(Position(1, column)) == 7


def test_what_lies_beyond_a_line_is_its_end():
    lines = Lines("ab\r\ncd")
    assert lines.offset(Position(0, 99)) == 2
    assert lines.offset(Position(9, 0)) == 6
    assert lines.changed(Range(Position(0, 1), Position(0, 99)), "X") == "aX\r\ncd"
    assert lines.changed(Range(Position(1, 1), Position(0, 1)), "") == "ad"


def test_half_a_character_is_none():
    assert Lines("\U0001f600b").offset(Position(0, 1)) == 0


@given(TEXTS, st.data(), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_each_character_is_found_again_by_its_position(text, data, encoding):
    lines = Lines(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    inside_line_end = text[offset - 1 : offset + 1] == "\r\n"
    assert lines.offset(lines.position(offset)) == offset - inside_line_end


@given(TEXTS, TEXTS)
def test_edits_turn_one_text_into_the_other(before, after):
    assert apply(before, list(edits_between(before, after))) == after


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.data())
def test_what_has_not_changed_keeps_its_text(head, old, new, tail, data):
    before, after = head + old + tail, head + new + tail
    ends = sorted(data.draw(st.tuples(*[st.integers(0, len(before))] * 2)))
    span = Shift(before, after).span(Span(*ends))
    if span is not None:
        assert after[span.start : span.end] == before[ends[0] : ends[1]]
    if ends[1] <= len(head) or ends[0] >= len(head) + len(old):
        assert span is not None


def test_settings_may_lie_in_an_object_of_their_own():
    given = {"select": ["DEV1"], "run": "onSave", "torchVersion": "2.4", "unsafeFixes": True}
    wanted = ServerSettings(select=("DEV1",), run="onSave", torch_version=(2, 4), unsafe_fixes=True)
    for sent in (given, {"devicelint": given}, {"settings": given}):
        assert read_settings(sent, RULES) == (wanted, [])
    assert read_settings(None, RULES) == (ServerSettings(), [])
    assert read_settings({"trace": {"server": "off"}, "hover": None}, RULES) == (
        ServerSettings(),
        [],
    )


def test_what_makes_no_sense_is_told_and_the_rest_holds():
    sent = {
        "hover": "yes", "run": "never", "ignore": "DEV1", "select": ["blocking-cops"],
        "configuration": 3, "torchVersion": "two", "definition": False,
    }  # fmt: skip
    settings, complaints = read_settings(sent, RULES)
    assert settings == ServerSettings(definition=False)
    hint = 'did you mean "blocking-copy"?'
    assert complaints == [
        'setting "devicelint.hover": expected true or false',
        'setting "devicelint.run": expected "onType" or "onSave"',
        'setting "devicelint.ignore": expected a list of strings',
        f'setting "devicelint.select": no rule is called "blocking-cops"; {hint}',
        'setting "devicelint.configuration": expected a string',
        'setting "devicelint.torchVersion": "two" is not a release of torch: write it like "2.6"',
    ]
    assert read_settings([1], RULES)[1] == ["the settings of devicelint must be an object"]
