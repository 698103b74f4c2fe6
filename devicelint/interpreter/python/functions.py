"""Functions of the file: defined, called with what they are given, walked on their own."""

from __future__ import annotations

from contextlib import nullcontext

import libcst as cst

from devicelint.domain.alternatives import either_known
from devicelint.domain.devices import Unsure
from devicelint.domain.join import join_known
from devicelint.domain.state import State
from devicelint.domain.values import (
    HOST,
    NONE,
    Function,
    Module,
    Placed,
    Stream,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.objects import CURRENT, MACHINE
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.engine.tables import calls
from devicelint.interpreter.facts.abstract_methods import is_overridden
from devicelint.interpreter.facts.failures import Unfollowed
from devicelint.interpreter.facts.moved_back import forget_places
from devicelint.interpreter.facts.stored_attributes import forget_stored
from devicelint.interpreter.facts.tensor_parameters import settings_of
from devicelint.interpreter.python.call_keys import is_plain, key_of, place_of
from devicelint.interpreter.python.parameters import bind_parameters, lacks_argument
from devicelint.interpreter.python.paths.endings import says_it_never_returns
from devicelint.interpreter.python.seen_results import seen_by_caller

_DEEPEST = 12
_MOST_INTERPRETATIONS = 48
_MOST_OBJECTS = 60
"""How often an `__init__` is walked: an object that was not made so knows nothing of itself."""

_MOST_RECURSIONS = 3
"""How often a function is entered from itself."""
_STEPS_ELSEWHERE = 5_000
_STEPS_ELSEWHERE_PER_LINE = 5
"""How much of other files is walked for one file."""


@calls(Function)
def call_plain(run: Run, callee: Function, arguments: Arguments, site: cst.Call) -> Value:
    result = call_function(run, callee, arguments, site)
    if not isinstance(result, Unknown):
        return result
    return run.guesses.called(run, callee, arguments, site) or result


def call_function(
    run: Run,
    function: Function,
    arguments: Arguments,
    site: cst.BaseExpression | None,
    *,
    receiver: Value | None = None,
    module: Module | None = None,
) -> Value:
    """Walk a function's body; `site` is the call or the decorator, None where Python calls."""
    is_alone = site is None and arguments.open
    if not is_alone and is_overridden(run, receiver, function):
        return Unknown(f"{function.name} is left to a class that derives from this one")
    if site is not None and _lacks_argument(function, receiver, arguments):
        return Unknown(f"{function.name} is called without what it takes")
    key = key_of(run, function, receiver, arguments)
    known = run.remembered.get(key)
    if known is not None and function.home != run.program.home:
        return known
    if not (is_alone or _may_enter(run, function, arguments)):
        if _is_far(run, function):
            run.steps.not_followed(function)
        forget_stored(run, function.node, receiver)
        return known or Unknown(f"{function.name} is called too deep or too often")
    is_own = site is not None and function.home == run.program.home
    if is_own and not _is_of_module_nowhere(run, receiver):
        run.entered.add(function.node)
    frame = _frame_of(run, function, site, receiver, module)
    frame.given = arguments.values()
    late, has_failed = run.come_late, run.state.failed
    result = _returned(run, frame, function, arguments)
    run.state.dead |= says_it_never_returns(function.node)
    result = seen_by_caller(run, function, arguments, result, site)
    if is_plain(result) and run.state.failed is has_failed and run.come_late == late:
        run.remembered[key] = result
    return result


def _is_of_module_nowhere(run: Run, receiver: Value | None) -> bool:
    """Whether nobody knows where a Module is: what its methods need of it is seen on its own."""
    place = place_of(run, receiver)
    return isinstance(place, Placed) and isinstance(place.device, Unsure)


def _lacks_argument(function: Function, receiver: Value | None, arguments: Arguments) -> bool:
    node = function.node
    has_receiver = receiver is not None and function.kind != "static"
    if not isinstance(node, (cst.FunctionDef, cst.Lambda)):
        return False
    return lacks_argument(node.params, arguments, has_receiver=has_receiver)


class Bodies(Notes):
    """The functions whose bodies were walked, in turn."""

    def __init__(self) -> None:
        self.walked: list[cst.FunctionDef | cst.Lambda] = []

    def fork(self) -> Bodies:
        """What was walked was walked, wherever the walk is."""
        return self


def _returned(run: Run, frame: Frame, function: Function, arguments: Arguments) -> Value:
    """What the body gives, walked in its frame with the arguments of a call."""
    node = frame.node
    assert isinstance(node, (cst.FunctionDef, cst.Lambda))
    receiver = frame.receiver if function.kind != "static" else None
    bind_parameters(run, frame, node.params, arguments, receiver)
    run.steps.entered(frame)
    run.notes(Bodies).walked.append(node)
    result = _walk(run, frame, function)
    run.steps.returned(frame, arguments, result)
    return result


def _frame_of(
    run: Run,
    function: Function,
    site: cst.BaseExpression | None,
    receiver: Value | None,
    module: Module | None,
) -> Frame:
    node = function.node
    assert isinstance(node, (cst.FunctionDef, cst.Lambda))
    return Frame(
        run.allocate(site or node, function.name),
        node,
        function.home,
        function.scopes,
        caller=run.frame,
        site=site if isinstance(site, cst.Call) else None,
        module=module,
        receiver=receiver,
        owner=function.owner,
        depth=run.frame.depth + 1,
        entered_under=run.assumptions,
        is_reported=function.home in run.program.also_reported,
    )


def _is_far(run: Run, function: Function) -> bool:
    """Whether it is too deep, or enough was walked of the files that this one imports."""
    if run.frame.depth >= _DEEPEST:
        return True
    if function.home == run.program.home:
        return False
    return run.steps_elsewhere > _STEPS_ELSEWHERE + run.program.lines * _STEPS_ELSEWHERE_PER_LINE


def _may_enter(run: Run, function: Function, arguments: Arguments) -> bool:
    node = function.node
    if _is_far(run, function):
        return False
    if not _comes_to_an_end(run.frame, function, arguments):
        return False
    run.interpretations[node] = run.interpretations.get(node, 0) + 1
    is_init = isinstance(node, cst.FunctionDef) and node.name.value == "__init__"
    return run.interpretations[node] <= (_MOST_OBJECTS if is_init else _MOST_INTERPRETATIONS)


def _comes_to_an_end(frame: Frame, function: Function, arguments: Arguments) -> bool:
    """Whether a function that calls itself does so with something else each time."""
    given = arguments.values()
    entered = [one for one in frame.outwards() if one.node is function.node]
    return len(entered) <= _MOST_RECURSIONS and all(one.given != given for one in entered)


def _walk(run: Run, frame: Frame, function: Function) -> Value:
    """Walk what a function does; one that is never run, or is to raise, is not reported."""
    with run.muted() if function.left_out else nullcontext():
        return _walked(run, frame, function)


def _walked(run: Run, frame: Frame, function: Function) -> Value:
    node = frame.node
    outer, run.frame = run.frame, frame
    run.no_grad += function.no_grad
    run.assumptions += function.guarded
    if type(node) is cst.Lambda:
        result = run.evaluate(node.body)
    else:
        assert isinstance(node, cst.FunctionDef)
        has_failed = run.state.failed
        run.execute_block(node.body)
        result = _leave(run, frame, has_failed=has_failed)
    _walk_unentered(run, frame)
    run.no_grad -= function.no_grad
    run.assumptions -= frame.assumed + function.guarded
    run.unrelated -= frame.assumed_unrelated
    run.idle -= frame.assumed_idle
    run.frame = outer
    frame.left_with = run.state.fields(frame.ref)
    if not frame.keeps_names:
        run.state.drop(frame.ref)
    return result


def _leave(run: Run, frame: Frame, *, has_failed: bool) -> Value:
    """Join what the paths that return hold, and what they return.

    When a generator fails is for those to say who iterate over it.
    """
    result: Value | None = None if run.state.dead else NONE
    run.steps.returning(frame)
    for value, state in _reached(run, frame):
        paths = run.state.parted_from(state)
        joined = value if result is None else either_known(result, value, *paths)
        if result is not None and frame.separated_by is not None:
            run.separate(frame.separated_by, result, value, joined)
        if result is not None:
            run.steps.joined(result, value)
        result = joined
        run.merge(state, None, apart=True)
    if frame.yields:
        run.state.dead, run.state.failed = False, has_failed
        element = frame.yields[0]
        for value in frame.yields[1:]:
            element = join_known(element, value)
        in_order = frame.yields_apart and len(frame.yields) > 1
        return Stream(element, in_order, tuple(frame.yields) if in_order else ())
    return Unknown("a call that does not return") if result is None else result


def _reached(run: Run, frame: Frame) -> list[tuple[Value, State]]:
    """The paths that return: of those that fail none, where another does not."""
    returns = [(value, state) for value, state in frame.returns if not state.failed]
    if returns:
        run.state.dead |= run.state.failed
        return returns
    return frame.returns if run.state.dead or run.state.failed else []


def _walk_unentered(run: Run, frame: Frame) -> None:
    """Functions defined here that nobody called: callbacks, whose arguments come from outside.

    One that is returned may still be called by the caller; what a Module keeps is for when the
    Module has got its device.
    """
    returned = [value for value, _ in frame.returns]
    mine = [function for function, definer in run.pending if definer is frame]
    if not mine or run.state.dead:
        return
    run.pending = [entry for entry in run.pending if entry[1] is not frame]
    if isinstance(frame.receiver, Module) and frame.name == "__init__":
        return
    for function in mine:
        if function.node in run.entered:
            continue
        if frame.caller is not None and function in returned:
            run.pending.append((function, frame.caller))
        else:
            walk_alone(run, function)


def walk_alone(run: Run, function: Function, receiver: Value | None = None) -> None:
    """Walk a function with arguments of the caller's choice, and undo what it did."""
    before, outer = run.state.fork(), run.frame
    counted, world = _counted(run), run.world
    for setting in settings_of(run, function):
        run.state = before.fork()
        run.state.doubted = function.node in run.notes(Unfollowed).given
        run.state.write(MACHINE, CURRENT, HOST)
        forget_places(run)
        run.world = setting
        call_function(run, function, Arguments(open=True, may_name=True), None, receiver=receiver)
        run.frame, run.world = outer, world
        run.assumptions, run.unrelated, run.of_machine, run.idle, run.no_grad = counted
    run.state = before


def _counted(run: Run) -> tuple[int, int, int, int, int]:
    return run.assumptions, run.unrelated, run.of_machine, run.idle, run.no_grad
