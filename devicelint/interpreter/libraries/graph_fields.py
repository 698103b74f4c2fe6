"""Graphs of DGL that come from outside: what is put into one has to be where the graph is."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, DeviceOf
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import Module, Outside, Tensor, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.operands import operand_of, report_clash

_FIELDS = frozenset({"ndata", "edata", "srcdata", "dstdata"})


def put_into_graph(
    run: Run, target: cst.Subscript, owner: Outside, value: Value, site: cst.BaseExpression
) -> None:
    """`g.edata["w"] = w` in the `forward` of a Module: the graph is with the Module's inputs."""
    graph, _, field = owner.origin.rpartition(".")
    frame = run.frame
    if field not in _FIELDS or not isinstance(frame.receiver, Module) or frame.name != "forward":
        return
    if not isinstance(value, Tensor) or value.device != CPU or owner.since is None:
        return
    assert isinstance(target.value, cst.Attribute)
    device = DeviceOf(graph)
    place = Tensor(device, Step(Verb.RECEIVED, owner.since.site, device), scalar=False)
    culprit = operand_of(value, site)
    assert culprit is not None
    kept = Operand(target.value.value, place, device, place.since)
    report_clash(run, target, f".{field}", (culprit, kept), in_place=True)
