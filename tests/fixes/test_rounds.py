"""Fixing in rounds until nothing changes, with a check that is a few regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devicelint.finding import (
    FOR_ACCELERATORS,
    Edit,
    Finding,
    Fix,
    InputError,
    Safety,
    Severity,
    Span,
)
from devicelint.fixes import Fixed, fix_until_stable
from devicelint.text.source import SourceFile

Rule = tuple[str, str, str]
"""A code, a pattern that is a mistake, and what to put in its place."""

REPLACE = ("DEV1", r"bad", "good")


def check_for(*rules: Rule) -> Callable[[SourceFile], tuple[Finding, ...]]:
    def check(source: SourceFile) -> tuple[Finding, ...]:
        if "!" in source.text:
            raise InputError(source.path, 1, 0, "syntax error")
        found = [
            Finding(
                code,
                "a-rule",
                Severity.ERROR,
                f"{match[0]} on line {source.position(match.start()).line}",
                Span(*match.span()),
                fix=Fix("fixs", (Edit(Span(*match.span()), match.expand(content)),)),
            )
            for code, pattern, content in rules
            for match in re.finditer(pattern, source.text)
        ]
        return tuple(sorted(found, key=lambda finding: finding.span))

    return check


def fixed(text: str, *rules: Rule, max_rounds: int = 50) -> Fixed:
    source = SourceFile.from_text(text)
    return fix_until_stable(source, check_for(*rules), lambda finding: True, max_rounds)


def test_all_findings_are_fixed() -> None:
    result = fixed("bad\r\nbad # \U0001f525\n", REPLACE)
    assert result.after.text == "good\r\ngood # \U0001f525\n"
    assert len(result.applied) == 2
    assert result.rolled_back == result.remaining == ()
    assert result.before.text == "bad\r\nbad # \U0001f525\n"


def test_a_clean_file_stays_the_same_object() -> None:
    result = fixed("good", REPLACE)
    assert result.after is result.before
    assert result.applied == ()


def test_only_accepted_fixes_are_made() -> None:
    source = SourceFile.from_text("bad worse")
    rules = (REPLACE, ("DEV2", "worse", "better"))
    result = fix_until_stable(source, check_for(*rules), lambda each: each.code == "DEV2")
    assert result.after.text == "bad better"
    assert [each.code for each in result.remaining] == ["DEV1"]
    assert result.rolled_back == ()


def test_fixes_that_overlap_come_one_round_after_the_other() -> None:
    result = fixed("abc", ("DEV1", "ab", "xb"), ("DEV2", "bc?$", "y"))
    assert result.after.text == "xy"
    assert [each.code for each in result.applied] == ["DEV1", "DEV2"]


def test_a_comment_that_a_fix_makes_useless_is_no_objection() -> None:
    result = fixed("bad # noqa", REPLACE, ("DEV901", "(?<=good) # noqa", ""))
    assert result.after.text == "good"
    assert [each.code for each in result.applied] == ["DEV1", "DEV901"]


def test_a_comment_is_judged_by_what_is_left() -> None:
    rules = (REPLACE, ("DEV901", "noqa (?=bad)", ""), ("DEV2", "^good", "ugly"))
    result = fixed("noqa bad", *rules)
    assert result.after.text == "noqa good"
    assert result.remaining == ()


def test_a_fix_that_brings_a_new_finding_is_rolled_back_alone() -> None:
    rules = (REPLACE, ("DEV2", "worse", "ugly"), ("DEV3", "ugly", "fine"))
    result = fixed("bad worse bad bad", *rules)
    assert result.after.text == "good worse good good"
    assert [each.code for each in result.applied] == ["DEV1"] * 3
    assert [(each.code, each.span) for each in result.rolled_back] == [("DEV2", Span(5, 10))]
    assert result.rolled_back == result.remaining


def test_a_finding_that_only_moves_is_not_new() -> None:
    rules = (("DEV1", "bad", "good\n"), ("DEV2", "hopeless", "hopeless"))
    result = fixed("bad\nhopeless", *rules)
    assert result.after.text == "good\n\nhopeless"
    assert [each.message for each in result.remaining] == ["hopeless on line 3"]


def test_a_finding_in_other_words_at_its_place_is_not_new() -> None:
    result = fixed("bad", REPLACE, ("DEV2", r"(?<=o)\b|(?<=\bbad)$", ""))
    assert result.after.text == "good"


def test_a_fix_that_leaves_its_finding_is_rolled_back() -> None:
    result = fixed("bad", ("DEV1", "bad", "bad.cpu()"))
    assert result.after.text == "bad"
    assert [each.code for each in result.rolled_back] == ["DEV1"]


def test_a_fix_that_does_not_parse_is_rolled_back() -> None:
    result = fixed("bad worse", REPLACE, ("DEV2", "worse", "!"))
    assert result.after.text == "good worse"
    assert [each.code for each in result.rolled_back] == ["DEV2"]


def test_a_text_that_the_encoding_cannot_express_is_rolled_back() -> None:
    source = SourceFile.from_bytes(b"# coding: latin-1\nbad\n", "a.py")
    result = fix_until_stable(source, check_for(("DEV1", "bad", "\u20ac")), lambda finding: True)
    assert result.after is source
    assert len(result.rolled_back) == 1


def reason(result: Fixed) -> str:
    (told,) = result.reasons.values()
    return told


def test_why_a_fix_was_not_made_is_told() -> None:
    brings = fixed("bad\nworse", ("DEV1", "worse", "a\nb\nugly"), ("DEV2", "ugly", "?!"))
    assert reason(brings) == "it would introduce DEV2 on line 2"
    assert reason(fixed("bad", ("DEV1", "bad", "bad.cpu()"))) == "it would not remove the finding"
    broken = fixed("worse", ("DEV2", "worse", "!"))
    assert reason(broken) == "it would leave a file that cannot be checked: syntax error"
    turning = fixed("left", ("DEV1", "left", "right"), ("DEV2", "right", "left"))
    assert reason(turning) == "it would introduce DEV2 on line 1"


def test_what_was_fixed_stood_where_the_first_text_has_it() -> None:
    result = fixed("-\nabc", ("DEV1", "ab", "\n\nxb"), ("DEV2", "bc", "y"))
    assert result.after.text == "-\n\n\nxy"
    stood = [result.before.text[place.start : place.end] for place in result.places]
    assert stood == ["ab", "abc"]


@dataclass
class Scripted:
    """Somebody whose answers are known beforehand."""

    answers: str
    over: bool = False
    heard: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, fixes: Sequence[Finding], before: SourceFile, after: SourceFile) -> bool:
        self.heard.append((before.text, after.text))
        answer, self.answers = self.answers[0], self.answers[1:]
        self.over = answer == "q"
        return answer == "y"


def asked(text: str, answers: str, *rules: Rule) -> tuple[Fixed, Scripted]:
    somebody = Scripted(answers)
    source = SourceFile.from_text(text)
    check = check_for(*rules)
    return fix_until_stable(source, check, lambda each: True, approves=somebody), somebody


def test_each_fix_is_asked_about_once() -> None:
    result, somebody = asked("bad bad bad", "nyn", REPLACE)
    assert result.after.text == "bad good bad"
    assert somebody.heard == [
        ("bad bad bad", "good bad bad"),
        ("bad bad bad", "bad good bad"),
        ("bad good bad", "bad good good"),
    ]
    assert set(result.reasons.values()) == {"you declined its fix"}
    assert result.rolled_back == ()


def test_nothing_is_made_after_the_answer_to_quit() -> None:
    result, somebody = asked("bad bad bad", "yq", REPLACE)
    assert result.after.text == "good bad bad"
    assert len(somebody.heard) == 2
    assert list(result.reasons.values()) == ["you quit before it"] * 2


def test_nobody_is_asked_about_a_fix_that_does_not_help() -> None:
    result, somebody = asked("worse bad", "y", REPLACE, ("DEV2", "worse", "!"))
    assert result.after.text == "worse good"
    assert somebody.heard == [("worse bad", "worse good")]
    assert [each.code for each in result.rolled_back] == ["DEV2"]


def test_a_fix_behind_one_that_is_rolled_back_gets_its_turn() -> None:
    result = fixed("abc", ("DEV1", "ab", "!"), ("DEV2", "bc", "y"))
    assert result.after.text == "ay"


def test_what_did_harm_is_tried_again_once_the_file_has_changed() -> None:
    rules = (("DEV1", "x bad", "x good"), ("DEV2", "x", "y"), ("DEV3", "y bad", "y bad"))
    result = fixed("x bad", *rules)
    assert result.after.text == "y good"
    assert [each.code for each in result.applied] == ["DEV1", "DEV2"]
    assert result.rolled_back == ()


def test_rules_that_contradict_each_other_end() -> None:
    result = fixed("left", ("DEV1", "left", "right"), ("DEV2", "right", "left"))
    assert result.after.text == "left"
    assert [each.code for each in result.rolled_back] == ["DEV1"]


def test_a_fix_that_grows_forever_is_not_made() -> None:
    assert fixed("x", ("DEV1", r"$", "x")).after.text == "x"


@pytest.mark.parametrize(("max_rounds", "after"), [(0, "abc"), (1, "xbc"), (2, "xyc")])
def test_it_stops_cleanly_with_something_left(max_rounds: int, after: str) -> None:
    result = fixed("abc", ("DEV1", "ab", "xb"), ("DEV2", "bc", "yc"), max_rounds=max_rounds)
    assert result.after.text == after
    assert len(result.applied) == max_rounds
    assert result.rolled_back == ()


WORDS = st.sampled_from(["a", "b", "c", "ab", "!", ""])
RULES = st.lists(
    st.tuples(st.sampled_from(["DEV1", "DEV2", "DEV3"]), st.sampled_from("abc"), WORDS), max_size=4
)


@given(st.text(alphabet="abc \n", max_size=8), RULES)
def test_fixing_twice_is_fixing_once(text: str, rules: list[Rule]) -> None:
    once = fixed(text, *rules)
    twice = fixed(once.after.text, *rules)
    assert twice.after.text == once.after.text
    assert twice.rolled_back == once.rolled_back
    assert twice.remaining == once.remaining


def uncovering(text: str, *, uncovers: bool) -> Fixed:
    """An error whose fix shows the next one, which is fixed as well."""
    plain = check_for(("DEV1", "bad", "worse"), ("DEV2", "worse", "good"))

    def check(source: SourceFile) -> tuple[Finding, ...]:
        found = plain(source)
        return tuple(
            replace(one, fix=replace(one.fix, uncovers=uncovers)) for one in found if one.fix
        )

    return fix_until_stable(SourceFile.from_text(text), check, lambda finding: True)


def test_what_an_error_hid_is_fixed_with_it() -> None:
    assert uncovering("bad", uncovers=True).after.text == "good"
    kept = uncovering("bad", uncovers=False)
    assert kept.after.text == "bad"
    assert kept.refused == (("DEV1", Span(0, 3), "it would introduce DEV2 on line 1"),)


@pytest.mark.parametrize(("safety", "after"), [(Safety.SAFE, "bad"), (Safety.UNSAFE, "good")])
def test_no_safe_fix_makes_a_program_one_for_accelerators_alone(safety: Safety, after: str) -> None:
    def check(source: SourceFile) -> tuple[Finding, ...]:
        if source.text == "bad":
            fix = Fix("fix", (Edit(Span(0, 3), "good"),), safety)
            return (Finding("DEV1", "a-rule", Severity.ERROR, "bad", Span(0, 3), fix=fix),)
        return (Finding(FOR_ACCELERATORS, "a-note", Severity.NOTE, "good", Span(0, 4)),)

    fixed = fix_until_stable(SourceFile.from_text("bad"), check, lambda finding: True)
    assert fixed.after.text == after
