"""What a condition comes to, and which names hold the device that it chooses, or could."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devicelint.domain.guard_events import ChosenType, Condition, Guard
from devicelint.interpreter.analyses.guards.bindings import Settled, bindings_of
from devicelint.interpreter.analyses.guards.conditions import Asked, around, asks_machine
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.bound_names import names_bound_in
from devicelint.interpreter.facts.device_words import USUAL_NAMES
from devicelint.interpreter.facts.name_uses import Reads, last_name

_IS_NO_SCRIPT = (cst.FunctionDef, cst.ClassDef)


def condition_of(
    run: Run, reads: Reads, asked: Asked, settled: Settled, guards: Sequence[Guard | ChosenType]
) -> Condition:
    """What a rule needs to know of a condition."""
    meaning = _meaning(reads, asked, settled)
    spelled = ""
    if meaning is not None and _is_read_by_nothing_else(reads, asked, guards):
        spelled = _in_place(reads, meaning)
    return Condition(
        asked.code,
        meaning is not None and asks_machine(run, meaning),
        settled.statement,
        None if settled.bindings else settled.first_with(reads, [one.site for one in guards]),
        "self." if settled.is_kept else "",
        spelled if _is_script(run.module) else "",
    )


def _meaning(reads: Reads, asked: Asked, settled: Settled) -> cst.BaseExpression | None:
    """What a flag is given, where it is given one value: `use_cuda = torch.cuda.is_available()`."""
    if not isinstance(asked.expression, cst.Name) or asked.code != asked.expression.value:
        return None
    match settled.bindings, settled.statement:
        case (cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value),), _:
            return value
        case (cst.Assign(), cst.Assign()), cst.If(
            test=test,
            body=cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[yes])]),
            orelse=cst.Else(body=cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[no])])),
        ):
            return test if (_constant(yes), _constant(no)) == ("True", "False") else None
        case _:
            return None


def _constant(statement: cst.BaseSmallStatement) -> str:
    match statement:
        case cst.Assign(targets=[cst.AssignTarget()], value=cst.Name(value=name)):
            return name
        case _:
            return ""


def _in_place(reads: Reads, meaning: cst.BaseExpression) -> str:
    """A flag's value as the condition of `"cuda" if … else "cpu"`; nothing for a constant."""
    match meaning:
        case cst.IfExp(test=test, body=cst.Name("True"), orelse=cst.Name("False")):
            return _in_place(reads, test)
        case cst.Call(func=cst.Name("bool"), args=[cst.Arg(value=inner)]):
            return _in_place(reads, inner)
        case cst.Call() | cst.Comparison() | cst.BooleanOperation() | cst.UnaryOperation():
            return reads.code(meaning.with_changes(lpar=(), rpar=()))
        case _:
            return ""


def _is_read_by_nothing_else(
    reads: Reads, asked: Asked, guards: Sequence[Guard | ChosenType]
) -> bool:
    folded: set[cst.CSTNode] = set()
    for guard in guards:
        if not getattr(guard, "taken", ()) and isinstance(guard.site, (cst.If, cst.IfExp)):
            folded.update(descendants(guard.site.test))
    assert isinstance(asked.expression, cst.Name)
    return all(read in folded for read in reads.names[asked.expression.value])


def _is_script(module: cst.Module) -> bool:
    """Whether a file does something itself: what others import from it keeps its names."""
    for statement in module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            if any(isinstance(one, cst.Expr) and _acts(one) for one in statement.body):
                return True
        elif not isinstance(statement, (*_IS_NO_SCRIPT, cst.Try)):
            return True
    return False


def _acts(statement: cst.Expr) -> bool:
    return isinstance(statement.value, (cst.Call, cst.Await))


def _choice(value: cst.BaseExpression) -> cst.IfExp | None:
    """`"cuda" if … else "cpu"`, of which a device may be made."""
    given = _given_to_device(value)
    chosen = value if given is None else given
    if not isinstance(chosen, cst.IfExp):
        return None
    other = _given_to_device(chosen.orelse) or chosen.orelse
    return chosen if _kind_chosen(other) == "cpu" else None


def _kind_chosen(value: cst.BaseExpression) -> str:
    """The type of a device that is written out, or of whatever accelerator there is."""
    match value:
        case cst.SimpleString() as literal:
            return str(literal.raw_value).partition(":")[0]
        case cst.Attribute(attr=cst.Name("type"), value=cst.Call(func=func)) | cst.Call(func=func):
            return _ANY if last_name(func) == "current_accelerator" else ""
        case _:
            return ""


_ANY = "accelerator"


def _given_to_device(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a device is made of: `"cpu"` of `torch.device("cpu")`."""
    match value:
        case cst.Call(func=func, args=[cst.Arg(value=given)]) if last_name(func) == "device":
            return given
        case _:
            return None


def device_held(
    run: Run, reads: Reads, condition: Condition, sites: Sequence[cst.CSTNode], device: str
) -> str | None:
    """A name that holds the device which the condition chooses, in sight of all guards."""
    found = []
    for name, statement in _named(reads, condition.prefix):
        choice, kind = _choice(statement.value), device.partition(":")[0]
        if choice is None or _kind_chosen(choice.body) not in (kind, _ANY):
            continue
        if _is_test(run, choice.test, condition) and all(
            _sees(run, reads, site, name, statement) for site in sites
        ):
            found.append(name)
    usual = [name for name in USUAL_NAMES if name in found]
    return next(iter((*usual, *found)), None)


def _named(reads: Reads, prefix: str) -> Iterator[tuple[str, cst.Assign]]:
    """The assignments to plain names, or to the attributes that conditions are kept with."""
    for node in reads.around:
        if isinstance(node, cst.Assign) and len(node.targets) == 1:
            target = node.targets[0].target
            if isinstance(target, cst.Name) if not prefix else isinstance(target, cst.Attribute):
                name = reads.code(target)
                if name.startswith(prefix):
                    yield name, node


def _is_test(run: Run, test: cst.BaseExpression, condition: Condition) -> bool:
    if run.code_of(test) == condition.code:
        return True
    return condition.asks_machine and asks_machine(run, test)


def _sees(run: Run, reads: Reads, site: cst.CSTNode, name: str, statement: cst.Assign) -> bool:
    """Whether a name is bound once, and before the guard, where that can see it."""
    line = reads.around[statement]
    block = reads.around.get(line)
    if not isinstance(block, (cst.Module, cst.IndentedBlock)):
        return False
    owner = next((one for one in around(reads, line) if isinstance(one, _SCOPES)), run.module)
    if name.startswith("self."):
        return _is_of_same_object(reads, site, statement)
    if len(list(bindings_of(reads, owner, cst.Name(name)))) != 1:
        return False
    body = tuple(block.body)
    place = Settled(owner, body, next(i for i, one in enumerate(body) if one is line), (statement,))
    return place.precedes(reads, site) and not _hides(run, reads, site, name, owner)


_SCOPES = (cst.Module, cst.FunctionDef)


def _is_of_same_object(reads: Reads, site: cst.CSTNode, statement: cst.CSTNode) -> bool:
    owners = [
        next((one for one in around(reads, node) if isinstance(one, cst.ClassDef)), None)
        for node in (site, statement)
    ]
    return owners[0] is not None and owners[0] is owners[1]


def _hides(run: Run, reads: Reads, site: cst.CSTNode, name: str, owner: cst.CSTNode) -> bool:
    """Whether a function around a guard binds the name itself."""
    for one in around(reads, site):
        if one is owner:
            return False
        if isinstance(one, (cst.FunctionDef, cst.Lambda)) and name in names_bound_in(one):
            return True
    return owner is not run.module


_NAMES = ("device", "torch_device", "cuda_device", "gpu_device")


def free_device_name(
    run: Run, reads: Reads, condition: Condition, sites: Sequence[cst.CSTNode]
) -> str | None:
    """A name for a new device, which nothing binds in the file, nor in the functions of guards."""
    if condition.prefix:
        kept = [one for one in reads.attributes["device"] if reads.code(one) == "self.device"]
        owned = any(_is_of_same_object(reads, sites[0], one) for one in kept)
        return None if owned else "self.device"
    for name in _NAMES:
        if name not in names_bound_in(run.module) and not any(
            _hides(run, reads, site, name, run.module) for site in sites
        ):
            return name
    return None
