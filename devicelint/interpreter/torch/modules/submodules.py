"""Parts of a library's model, whose code is not seen: they are where the model is."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.alternatives import cases_of, one_of
from devicelint.domain.history import Site
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import HOST, Module, Tuple, Unknown, Value
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import element_of, joined_elements
from devicelint.interpreter.python.containers.fields import ELEMENT, LENGTH
from devicelint.knowledge import member_mark

WHOLE_FIELD = "@whole"
"""What a part that stands for several belongs to: it moves with that alone."""

_PART = "torchvision.Part"
_PARTS_OF_TORCH = {
    ("torch.nn.Transformer", "encoder"): "torch.nn.TransformerEncoder",
    ("torch.nn.Transformer", "decoder"): "torch.nn.TransformerDecoder",
}
"""What torch's own modules are made of, where programs call these parts by themselves."""


def part_named(run: Run, model: Module, name: str, site: cst.CSTNode) -> Module | None:
    """`model.features`, which is a module of the model; None for what may be anything."""
    listed = _PARTS_OF_TORCH.get((model.name, name))
    if listed is not None:
        part = _part(run, model, name, site, listed)
        run.state.write(model.ref, name, part)
        return part
    if member_mark(model.name, name) != "Part":
        return None
    part = _part(run, model, name, site)
    run.state.write(model.ref, name, part)
    part_of_many(run, part, site)
    return part


def part_of_many(run: Run, model: Module, site: Site) -> Module | None:
    """Any of the modules that a model of a library, or a part of one, is made of."""
    if member_mark(model.name, "children") != "Parts":
        return None
    part = _part(run, model, "any", site)
    run.state.write(part.ref, WHOLE_FIELD, Tuple((model,)))
    run.state.write(model.ref, ELEMENT, part)
    run.state.write(model.ref, LENGTH, HOST)
    return part


def child_of(run: Run, module: Module, named: list[tuple[str, Value]], site: cst.CSTNode) -> Value:
    """What going through the children of a module gives, of which these have names."""
    parts = (child for _, child in named)
    child = joined_elements(run, parts) if named else element_of(run, module, site)
    if not isinstance(child, Unknown):
        return child
    return part_of_many(run, module, site) or child


def named_children(run: Run, module: Module) -> list[tuple[str, Value]]:
    """The parts that a Module was given under names, in order; those of a container have none."""
    fields = run.state.fields(module.ref).items()
    if any(name.startswith("[") or name == ELEMENT for name, _ in fields):
        return []
    parts = ((name, _modules_of(one)) for name, one in fields if not name.startswith("@"))
    return [(name, part) for name, part in parts if part is not None]


def _modules_of(value: Value) -> Value | None:
    """A part, or those that it is one of; None for what is no Module."""
    cases = [case for case in cases_of(value) if isinstance(case[0], Module)]
    return one_of(cases) if cases else None


def _part(run: Run, model: Module, name: str, site: Site, of: str = _PART) -> Module:
    part = Module(run.allocate(site, f"part {name} of {model.ref}"), of, model.since)
    run.state.write(part.ref, DEVICE_FIELD, module_device(run, model))
    return part
