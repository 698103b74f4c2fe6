"""What the same run saves and loads again: to a buffer in memory, or to a file that it names."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, Device, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.join import join
from devicelint.domain.state import FILES
from devicelint.domain.values import (
    NONE,
    TRUE,
    Const,
    Function,
    ImportedName,
    Instance,
    Module,
    Partial,
    Ref,
    Tensor,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.stdlib.paths import name_of
from devicelint.interpreter.torch.devices.arguments import device_named
from devicelint.interpreter.torch.modules.copies import Copier
from devicelint.interpreter.torch.modules.registration import move_module

_SAVED = "@saved"
"""The field of a buffer in which what was saved to it lies."""
_CONTENT = "io.BytesIO.getvalue"


@function("io.BytesIO")
def buffer(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A file in memory; one that is begun with the bytes of another holds what that does."""
    begun = arguments.get(0, "initial_bytes")
    held = None
    if begun is not None and isinstance(begun.value, Instance):
        held = run.state.read(begun.value.ref, _SAVED)
    made = Instance(run.allocate(site), name)
    for method in ("getvalue", "getbuffer", "read"):
        run.state.write(made.ref, method, Partial(ImportedName(_CONTENT), (made,)))
    if held is not None:
        run.state.write(made.ref, _SAVED, held)
    return made


@function(_CONTENT)
def content(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The bytes of a buffer stand for what is in it."""
    return arguments.positional[0].value


def _place_of(path: Argument) -> tuple[Ref, str] | None:
    match path.value:
        case Instance(ref, "io.BytesIO"):
            return ref, _SAVED
        case value:
            name = name_of(value)
            return None if name is None else (FILES, name)


def _missed(place: tuple[Ref, str]) -> tuple[Ref, str]:
    """Where it is kept in mind that a file was looked for before it was saved."""
    return place[0], f"?{place[1]}"


def keep_saved(run: Run, path: Argument, saved: Value, site: cst.Call) -> None:
    """`torch.save(saved, path)`: what is saved stays as it is now."""
    _keep(run, path, _restored(run, saved, None, site))


def _keep(run: Run, path: Argument, content: Value) -> None:
    """A file has a content; of several that are called alike, each may have it."""
    place = _place_of(path)
    if place is None:
        return
    before = run.state.read(*place)
    if before is None and run.state.read(*_missed(place)) is not None:
        run.come_late += 1
        run.remembered.clear()  # What calls gave may have come of it.
    is_one = isinstance(path.value, (Instance, Const))
    held = content if is_one else join(before, content)
    assert held is not None
    run.state.write(*place, held)


@function(*(f"os.{name}" for name in "replace rename link symlink".split()))
@function(*(f"shutil.{name}" for name in "move copy copy2 copyfile".split()))
def file_renamed(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A file that is moved or copied is loaded from where it went."""
    source, target = arguments.get(0, "src"), arguments.get(1, "dst")
    place = None if source is None else _place_of(source)
    held = None if place is None else run.state.read(*place)
    if held is not None and target is not None:
        _keep(run, target, held)
    return NONE if target is None or name.startswith("os.") else target.value


def is_in_memory(path: Argument | None) -> bool:
    """Whether what is loaded has never left this run."""
    return path is not None and isinstance(path.value, Instance)


def loaded_again(
    run: Run, path: Argument | None, given: Argument | None, site: cst.Call
) -> Value | None:
    """What was saved there: each tensor where it was, or where map_location brings it."""
    place = None if path is None else _place_of(path)
    if place is None:
        return None
    saved = run.state.read(*place)
    if saved is None:
        run.state.write(*_missed(place), TRUE)
        return None
    if given is None or given.value == NONE:
        return _restored(run, saved, None, site)
    target = _target_of(run, given)
    return None if target is None else _restored(run, saved, target, site)


def _target_of(run: Run, given: Argument) -> Device | None:
    """Where map_location brings everything; None where that is not one device."""
    if isinstance(given.value, Function):
        return CPU if _keeps_storage(given.value) else None
    device = device_named(run, given)
    return None if isinstance(device, Unsure) else device


def _keeps_storage(function: Function) -> bool:
    """`lambda storage, location: storage`: what was read lies on the CPU, and stays there."""
    node = function.node
    if not isinstance(node, cst.Lambda) or not node.params.params:
        return False
    return isinstance(node.body, cst.Name) and node.body.value == node.params.params[0].name.value


def _restored(run: Run, value: Value, target: Device | None, site: cst.Call) -> Value:
    """A copy of what was saved, each tensor where it was or where it is brought."""

    def bring(tensor: Tensor) -> Tensor:
        device = tensor.device if target is None else target
        since = Step(Verb.PLACED, site, device)
        return replace(tensor, device=device, since=since, home=None, role="")

    def bring_module(module: Module) -> None:
        if target is not None:
            move_module(run, module, target, Step(Verb.PLACED, site, target))

    return Copier(run, site, bring, bring_module).copy(value)
