"""`match`: its cases, and what their patterns take out of the subject."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import DictOf, Unknown, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import executes
from devicelint.interpreter.python.conditions import assuming, condition_of, truth_of
from devicelint.interpreter.python.containers.contents import element_of, item, known_elements
from devicelint.interpreter.python.patterns import fit


@executes(cst.Match)
def match_statement(run: Run, node: cst.Match) -> None:
    """The cases are tried in order, until one fits for sure."""
    subject = run.evaluate(node.subject)
    start, moment = run.state, run.moment
    joined = start.fork()
    joined.dead = True
    for number, case in enumerate(node.cases):
        fits = fit(run, case.pattern, subject)
        if fits is False:
            continue
        run.state = start.fork()
        run.state.suppose([((node, moment), number)])
        _bind_pattern(run, case.pattern, subject)
        if case.guard is not None:
            holds = truth_of(run, condition_of(run.evaluate(case.guard)))
            if holds is False:
                continue
            fits = fits and holds
        with assuming(run, condition_of(subject)):
            run.execute_block(case.body)
        joined.merge(run.state, apart=True)
        if fits:
            break
    else:
        joined.merge(start, apart=True)
    run.state = joined


def _bind_pattern(run: Run, pattern: cst.MatchPattern, subject: Value) -> None:
    """Bind what a pattern captures: the whole subject, or a part of it."""
    match pattern:
        case cst.MatchAs():
            if pattern.pattern is not None:
                _bind_pattern(run, pattern.pattern, subject)
            if pattern.name is not None:
                run.bind(pattern.name.value, subject, pattern.name)
        case cst.MatchTuple() | cst.MatchList():
            _bind_sequence(run, pattern, subject)
        case cst.MatchMapping() if isinstance(subject, DictOf):
            for one in pattern.elements:
                _bind_pattern(run, one.pattern, item(run, subject.ref, run.evaluate(one.key)))
        case cst.MatchOr():
            for option in pattern.patterns:
                _bind_pattern(run, option.pattern, subject)
        case _:
            _bind_unknown(run, pattern)


def _bind_sequence(run: Run, pattern: cst.MatchTuple | cst.MatchList, subject: Value) -> None:
    known = known_elements(run, subject)
    part = element_of(run, subject, pattern)
    for position, element in enumerate(pattern.patterns):
        if known is not None and len(known) == len(pattern.patterns):
            part = known[position]
        if isinstance(element, cst.MatchSequenceElement):
            _bind_pattern(run, element.value, part)
        elif element.name is not None:
            run.bind(element.name.value, Unknown("a starred pattern"), element.name)


def _bind_unknown(run: Run, pattern: cst.MatchPattern) -> None:
    for child in pattern.children:
        if isinstance(child, cst.MatchPattern):
            _bind_pattern(run, child, Unknown("part of a pattern"))
        elif isinstance(child, (cst.MatchKeywordElement, cst.MatchMappingElement)):
            _bind_pattern(run, child.pattern, Unknown("part of a pattern"))
