"""Whether the pattern of a `case` fits a value, so far as that is known."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import Const, DictOf, ListOf, Tuple, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.python.containers.fields import ELEMENT, key_field
from devicelint.interpreter.python.type_tests import is_of


def fit(run: Run, pattern: cst.MatchPattern, subject: Value) -> bool | None:
    """Whether a pattern fits; None where the code does not tell."""
    match pattern:
        case cst.MatchAs(pattern=inner):
            return True if inner is None else fit(run, inner, subject)
        case cst.MatchOr(patterns=options):
            answers = [fit(run, one.pattern, subject) for one in options]
            return True if True in answers else None if None in answers else False
        case cst.MatchValue(value=node):
            return _is_equal(run.evaluate(node), subject)
        case cst.MatchSingleton(value=name):
            return _is_equal(run.evaluate(name), subject)
        case cst.MatchClass():
            return _is_instance(run, pattern, subject)
        case cst.MatchTuple() | cst.MatchList():
            return _fits_sequence(run, pattern, subject)
        case cst.MatchMapping():
            return _fits_mapping(run, pattern, subject)
        case _:
            return None


def _is_equal(wanted: Value, subject: Value) -> bool | None:
    if isinstance(wanted, Const) and isinstance(subject, Const):
        return wanted.value == subject.value
    return None


def _is_instance(run: Run, pattern: cst.MatchClass, subject: Value) -> bool | None:
    answer = is_of(run, subject, run.evaluate(pattern.cls))
    return None if answer and (pattern.patterns or pattern.kwds) else answer


def _fits_sequence(
    run: Run, pattern: cst.MatchTuple | cst.MatchList, subject: Value
) -> bool | None:
    if isinstance(subject, (Const, DictOf)):
        return False
    elements = known_elements(run, subject) if isinstance(subject, (Tuple, ListOf)) else None
    if elements is None or any(isinstance(one, cst.MatchStar) for one in pattern.patterns):
        return None
    if len(elements) != len(pattern.patterns):
        return False
    pairs = zip(pattern.patterns, elements, strict=True)
    answers = [
        fit(run, one.value, part)
        for one, part in pairs
        if isinstance(one, cst.MatchSequenceElement)
    ]
    return False if False in answers else None if None in answers else True


def _fits_mapping(run: Run, pattern: cst.MatchMapping, subject: Value) -> bool | None:
    if not isinstance(subject, DictOf):
        return False if isinstance(subject, (Const, ListOf, Tuple)) else None
    fields = run.state.fields(subject.ref)
    answers: list[bool | None] = []
    for one in pattern.elements:
        field = key_field(run.evaluate(one.key))
        if field in fields and field != ELEMENT:
            answers.append(fit(run, one.pattern, fields[field]))
        else:
            answers.append(None if ELEMENT in fields or field == ELEMENT else False)
    return False if False in answers else None if None in answers else True
