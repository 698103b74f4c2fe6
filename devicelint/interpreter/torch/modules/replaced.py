"""Parts that a program puts into a library's model: each is where it was made, or moved since.

`model = resnet18().to(device)` and `model.fc = nn.Linear(512, 2)`: the code of the model is not
seen, but its inputs reach the part all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Operand
from devicelint.domain.history import Step
from devicelint.domain.values import Module, Placed, Ref
from devicelint.interpreter.engine.objects import module_device, parts_of_moved
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.modules.inputs import check_input
from devicelint.interpreter.torch.modules.registration import owns_tensors
from devicelint.knowledge import ModuleKind, module_class


def check_parts(run: Run, model: Module | Placed, operand: Operand, site: cst.Call) -> None:
    """A part that was put in later and not moved meets what the model makes of its input."""
    ref = model.ref if isinstance(model, Module) else parts_of_moved(model)
    for path, part in _put_into(run, ref, model.since, "", {ref}):
        place = module_device(run, part)
        if place.device == CPU and owns_tensors(run, part):
            own = Operand(site.func, part, place.device, place.since)
            check_input(run, site, own, operand, path)


def brings_its_inputs(run: Run, model: Module | Placed) -> bool:
    """Whether a part that was put in brings what it is given to its device: a DataParallel.

    The code of the model is not seen, and may hand its inputs to that part first.
    """
    ref = model.ref if isinstance(model, Module) else parts_of_moved(model)
    return _has_wrapper(run, ref, {ref})


def _has_wrapper(run: Run, ref: Ref, seen: set[Ref]) -> bool:
    for field, value in tuple(run.state.fields(ref).items()):
        if isinstance(value, Module) and not field.startswith("@") and value.ref not in seen:
            seen.add(value.ref)
            known = module_class(value.name)
            is_wrapper = known is not None and known.kind is ModuleKind.WRAPPER
            if is_wrapper or _has_wrapper(run, value.ref, seen):
                return True
    return False


def _put_into(
    run: Run, ref: Ref, since: Step, path: str, seen: set[Ref]
) -> Iterator[tuple[str, Module]]:
    """The outermost parts that the program made itself, and the names under which they lie."""
    for field, value in tuple(run.state.fields(ref).items()):
        if not isinstance(value, Module) or value.ref in seen:
            continue
        seen.add(value.ref)
        inner = f"{path}{_spelled(field)}"
        if value.since is since:
            yield from _put_into(run, value.ref, since, inner, seen)
        elif not field.startswith("@"):
            yield inner, value


def _spelled(field: str) -> str:
    return field if field.startswith("[") else f".{field}"
