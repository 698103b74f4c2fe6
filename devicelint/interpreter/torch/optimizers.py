"""Optimizers: the state that they keep for each parameter stays where the parameter was then.

`model.to(device)` moves parameters in place, so an optimizer that was built before follows.  What
it keeps beside them, such as Adam's moments, is made by the first step, by `load_state_dict`, or,
by a few optimizers, when they are built; and nothing moves that afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import Agreement, agreement
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.training_events import OptimizerStateElsewhere, StateOrigin
from devicelint.domain.values import (
    NONE,
    TRUE,
    Bound,
    Class,
    Const,
    DictOf,
    Function,
    ImportedName,
    ListOf,
    Module,
    NotMovable,
    Parameters,
    Placed,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import attributes, library_class, methods, passes
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.torch.modules.registration import announce_lost
from devicelint.interpreter.torch.transfers import move_deviceless

OPTIMIZER = "optimizer"
_MODULES = "@modules"
_KEEPS_STATE = "@keeps state"
_BUILT_WITH_STATE = frozenset({"Adagrad"})
"""The optimizers whose state is there before the first step."""
_CLASHES = (Agreement.DIFFERENT, Agreement.DIFFERENT_UNLESS_CHOSEN)


@library_class("optimizer")
def build_optimizer(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """An optimizer: a Parameter's copy is refused, and the modules it is over are remembered."""
    run.note_made(site)
    run.steps.optimizer_built()
    given = arguments.get(0, "params")
    if given is None:
        return NotMovable(OPTIMIZER, site)
    for one in _optimized(run, given.value):
        run.steps.leaf(one)
        if one.role in ("lost", "no leaf") and one.grad is not False:
            announce_lost(run, one, given.site, registered=False)
    optimizer = NotMovable(OPTIMIZER, site, given.value)
    run.state.reset(_ref(optimizer))
    if name.startswith("torch.optim.") and not arguments.open:
        found = tuple(_over(run, given.value)) or tuple(_written(run, given.site))
        modules = [one.module for one in found if isinstance(one.module, Module)]
        run.steps.optimized(modules, given.site)
        run.state.write(_ref(optimizer), _MODULES, Tuple(found))
        run.state.write(_ref(optimizer), _KEEPS_STATE, Const(_keeps_state(name, arguments)))
        if name.rpartition(".")[2] in _BUILT_WITH_STATE:
            _keep(run, optimizer, site)
    return optimizer


def _optimized(run: Run, value: Value) -> Iterator[Tensor]:
    """The tensors in what an optimizer is given: a list of them, or of groups of them."""
    yield from (one for one in _given(run, value) if isinstance(one, Tensor))


def _over(run: Run, value: Value) -> Iterator[Parameters]:
    """The modules whose parameters an optimizer is given."""
    for one in _given(run, value):
        if isinstance(one, Parameters) and isinstance(one.module, Module):
            yield one


def _given(run: Run, value: Value) -> Iterator[Value]:
    match value:
        case Tuple(items):
            for one in items:
                yield from _given(run, one)
        case ListOf(ref):
            for name, one in run.state.fields(ref).items():
                if name.startswith("["):
                    yield from _given(run, one)
        case DictOf(ref):
            yield from _given(run, run.state.read(ref, "['params']") or NONE)
        case _:
            yield value


def _written(run: Run, place: object) -> Iterator[Parameters]:
    """The modules in an expression such as `[p for p in net.parameters() if p.requires_grad]`."""
    bound = run.frame.bindings.get(place.value) if isinstance(place, cst.Name) else None
    written = bound.value if isinstance(bound, cst.Assign) else place
    for node in descendants(written) if isinstance(written, cst.CSTNode) else ():
        if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
            continue
        owner = node.func.value
        is_place = isinstance(owner, (cst.Name, cst.Attribute))
        if is_place and node.func.attr.value in ("parameters", "named_parameters"):
            module = _quietly(run, owner)
            if isinstance(module, Module):
                yield Parameters(module, owner)


def _quietly(run: Run, node: cst.BaseExpression) -> Value:
    with run.muted():
        return run.evaluate(node)


def _keeps_state(name: str, arguments: Arguments) -> bool:
    """Whether an optimizer of torch keeps anything: SGD does with momentum alone."""
    if name.rpartition(".")[2] != "SGD":
        return True
    momentum = arguments.get(2, "momentum")
    return momentum is not None and isinstance(momentum.value, Const) and bool(momentum.value.value)


def _use(run: Run, optimizer: NotMovable, method: str, node: cst.Call) -> None:
    """A method of an optimizer that makes its state, or needs it."""
    if method == "load_state_dict":
        run.note_made(node)
        _keep(run, optimizer, node)
    elif method == "step":
        _step(run, optimizer, node)


@passes(NotMovable)
def _hand_over(run: Run, optimizer: NotMovable, node: cst.Call) -> None:
    """An optimizer is an argument: a scaler steps it, and what is not known may move its state."""
    func = node.func
    if isinstance(func, cst.Attribute) and func.attr.value == "step":
        _step(run, optimizer, node)
    elif run.state.fields(_ref(optimizer)) and not _is_understood(run, func):
        _forget(run, optimizer)


def _is_understood(run: Run, func: cst.BaseExpression) -> bool:
    if not isinstance(func, (cst.Name, cst.Attribute)):
        return False
    callee = _quietly(run, func)
    if isinstance(callee, ImportedName):
        return callee.name.startswith(("torch.", "builtins."))
    return isinstance(callee, (Function, Class, Bound, NotMovable))


@attributes(NotMovable)
def of_deviceless(run: Run, value: NotMovable, name: str, node: cst.Attribute) -> Value:
    """Whoever reads the state of an optimizer may be moving it by hand."""
    if name == "state":
        _forget(run, value)
    return Unknown(f"{name} of a {value.kind}")


def _ref(optimizer: NotMovable) -> str:
    """One call makes several, where each object makes its own."""
    return f"optimizer {id(optimizer.site)} over {optimizer.over!r}"


def _forget(run: Run, optimizer: NotMovable) -> None:
    run.state.reset(_ref(optimizer))


def _modules(run: Run, optimizer: NotMovable) -> tuple[tuple[str, Parameters, Module], ...]:
    """The modules of an optimizer, each with the field that says where its state is."""
    found = run.state.read(_ref(optimizer), _MODULES)
    items = found.items if isinstance(found, Tuple) else ()
    over = [one for one in items if isinstance(one, Parameters)]
    return tuple(
        (str(one.module.ref), one, one.module) for one in over if isinstance(one.module, Module)
    )


def _keep(run: Run, optimizer: NotMovable, node: cst.Call) -> None:
    """The state is made here and now, where the parameters are."""
    if run.state.read(_ref(optimizer), _KEEPS_STATE) != TRUE:
        return
    for field, _, module in _modules(run, optimizer):
        _write(run, optimizer, field, node, module)


def _write(run: Run, optimizer: NotMovable, field: str, node: cst.Call, module: Module) -> None:
    device = module_device(run, module).device
    kept = Placed(device, Step(Verb.CREATED, node, device))
    run.state.write(_ref(optimizer), field, kept)


def _step(run: Run, optimizer: NotMovable, node: cst.Call) -> None:
    for field, over, module in _modules(run, optimizer):
        kept = run.state.read(_ref(optimizer), field)
        now = module_device(run, module)
        run.steps.optimizer_stepped(module, node)
        if run.state.read(_ref(optimizer), _KEEPS_STATE) != TRUE:
            continue
        if not isinstance(kept, Placed):
            run.note_made(node)
            _write(run, optimizer, field, node, module)
            continue
        verdict = agreement(kept.device, now.device)
        if verdict in _CLASHES:
            model = Operand(over.site, module, now.device, now.since)
            _announce(run, optimizer, node, kept, model, verdict)
            _write(run, optimizer, field, node, module)


def _announce(
    run: Run,
    optimizer: NotMovable,
    node: cst.Call,
    kept: Placed,
    model: Operand,
    verdict: Agreement,
) -> None:
    made = kept.since.site
    frames = [run.made_in.get(site, (None, 0))[0] for site in (made, optimizer.site)]
    beside = frames[0] is not None and frames[0] is frames[1]
    origin = _origin(optimizer, made)
    run.announce(OptimizerStateElsewhere(node, made, origin, kept.device, model, verdict, beside))


def _origin(optimizer: NotMovable, made: object) -> StateOrigin:
    if made is optimizer.site:
        return StateOrigin.BUILT
    func = made.func if isinstance(made, cst.Call) else None
    loads = isinstance(func, cst.Attribute) and func.attr.value == "load_state_dict"
    return StateOrigin.LOADED if loads else StateOrigin.STEPPED


@methods(NotMovable)
def method_of_deviceless(run: Run, receiver: NotMovable, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name in MOVES:
        return move_deviceless(run, receiver, receiver.kind, name, node, arguments)
    _use(run, receiver, name, node)
    return Unknown(f"{receiver.kind}.{name}()")
