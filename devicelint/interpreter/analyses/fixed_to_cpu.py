"""Programs that name one device, and that is the CPU, written out: `device = "cpu"`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.training_events import FixedToCpu
from devicelint.domain.values import Module
from devicelint.interpreter.engine.nodes import descendants, names_bound_by
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import means_accelerator


def fixed_to_cpu(run: Run, learners: Collection[Module]) -> Iterator[FixedToCpu]:
    """The literals that fix a program which trains to the CPU, its only device."""
    if not learners or "cpu" not in run.program.text:
        return
    nodes = list(descendants(run.program.tree))
    if any(map(_speaks_of_accelerators, nodes)):
        return
    moves = [module_device(run, learner).since.site for learner in learners]
    for name, literal in _chosen_once(run, nodes):
        if any(_goes_to(move, name) for move in moves):
            yield FixedToCpu(literal, name)


def _speaks_of_accelerators(node: cst.CSTNode) -> bool:
    match node:
        case cst.Name(value=text) | cst.SimpleString(value=text):
            return means_accelerator(text)
        case _:
            return False


def _chosen_once(run: Run, nodes: list[cst.CSTNode]) -> Iterator[tuple[str, cst.SimpleString]]:
    """The names that hold the CPU, and nothing else, each with the literal that says so."""
    assigned = [node for node in nodes if isinstance(node, cst.Assign)]
    bound = Counter(
        name for one in assigned for target in one.targets for name in names_bound_by(target.target)
    )
    for one in assigned:
        target = one.targets[0].target
        literal = _literal(run, one.value)
        if literal is not None and isinstance(target, cst.Name) and bound[target.value] == 1:
            yield target.value, literal


def _literal(run: Run, value: cst.BaseExpression) -> cst.SimpleString | None:
    """`"cpu"` of `"cpu"` and of `torch.device("cpu")`."""
    match value:
        case cst.SimpleString() if value.raw_value in ("cpu", "cpu:0"):
            return value
        case cst.Call(func=func, args=[cst.Arg(value=cst.SimpleString() as given)]):
            is_device = run.code_of(func).rpartition(".")[2] == "device"
            return _literal(run, given) if is_device else None
        case _:
            return None


def _goes_to(move: Site, name: str) -> bool:
    """Whether a model is moved to the device with a name."""
    match move:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="to")), args=[cst.Arg() as given]):
            return isinstance(given.value, cst.Name) and given.value.value == name
        case _:
            return False
