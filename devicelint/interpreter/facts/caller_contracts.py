"""What the code says of where callers keep their tensors: on the CPU, or wherever they choose."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU, Device, DeviceOf, Opaque
from devicelint.domain.values import Class, DeviceHandle, Instance, Module
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import speaks_of_devices
from devicelint.interpreter.facts.name_uses import last_name

# -- the device of an operand ------------------------------------------------------------------

_KEEP_DEVICES = frozenset(
    "self args opt opts options cfg config hparams flags FLAGS accelerator fabric trainer".split()
)
"""What has a device of its own that somebody has chosen: settings, and those who place models."""


def is_of_caller(device: Device) -> bool:
    """Whether a device is that of what a caller gives: of a tensor, seen or unseen."""
    if isinstance(device, Opaque):
        owner, _, attribute = device.origin.rpartition(".")
        return attribute == "device" and owner.isidentifier() and owner not in _KEEP_DEVICES
    return isinstance(device, DeviceOf)


def is_apart(device: Device) -> bool:
    """Whether an object keeps to a device of its own, apart from where callers have theirs."""
    return isinstance(device, Opaque) and device.apart


_UPDATES = ("update", "step", "average")


def is_given_to_update(run: Run, device: Device) -> bool:
    """Whether something is updated with a tensor: what its own methods hand on may be moved."""
    if not isinstance(device, DeviceOf):
        return True
    *_, first = (one for one in _frames(run) if isinstance(one.node, cst.FunctionDef))
    assert isinstance(first.node, cst.FunctionDef)
    given = [one.name.value for one in first.node.params.params]
    is_update = _has_any(first.node.name.value, _UPDATES)
    return is_update and device.place.partition(".")[0].partition("[")[0] in given


# -- the conditions around ---------------------------------------------------------------------


def may_be_chosen_as_cpu(run: Run) -> bool:
    """Whether a condition about devices holds that leaves no choice but the CPU, perhaps."""
    if run.device_choices:
        return True
    return any(
        speaks_of_devices(key) and chosen is _means_the_cpu(key)
        for key, chosen in run.world.settings
    )


_OF_THE_CPU = ("cpu", "disable", "is None", "==-1", "== -1", "<0", "< 0")


def _means_the_cpu(condition: str) -> bool:
    """Whether a condition about devices holds where the CPU is meant: `device == "cpu"`."""
    words = _identifiers(condition)
    of_the_cpu = any(one in condition for one in _OF_THE_CPU) or any(
        word.startswith("no_") for word in words
    )
    return of_the_cpu is not ("!=" in condition or "not" in words)


def is_off_cuda(run: Run) -> bool:
    """Whether this is the path of a test of `.is_cuda` that fails."""
    return any(key.endswith(".is_cuda") and not chosen for key, chosen in run.world.settings)


def is_of_object_on_the_cpu(run: Run) -> bool:
    """Whether the object whose method is walked keeps a device of its own, which is the CPU."""
    for frame in _frames(run):
        if isinstance(frame.receiver, (Module, Instance)):
            kept = run.state.fields(frame.receiver.ref).values()
            if any(isinstance(one, DeviceHandle) and one.device == CPU for one in kept):
                return True
    return False


# -- the function, the class and the file ------------------------------------------------------

_HOST_BEGINNINGS = ("test", "bench")
_HOST_WORK = ("collate", "__getitem__", "dataset", "dataloader", "data_loader", "worker_init")
_HOST_CLASSES = ("dataset", "datamodule", "dataloader", "sampler", "collat", "testcase")
_DEVICES = ("cuda", "gpu", "device", "accelerat", "fabric")


def is_in_host_function(run: Run) -> bool:
    """Whether a function works on the CPU by what it is for: datasets, collation, tests."""
    return any(map(_is_host_function, _functions(run)))


def _is_host_function(name: str) -> bool:
    lowered = name.lower()
    if lowered.lstrip("_").startswith(_HOST_BEGINNINGS) or "cpu" in lowered.split("_"):
        return True
    return _has_any(name, _HOST_WORK)


def is_in_collate(run: Run) -> bool:
    """Whether a function puts batches together for a loader of the file."""
    given = _given_to_loaders(run.program.tree)
    return any(name in given for name in _functions(run))


@functools.lru_cache(maxsize=1)
def _given_to_loaders(tree: cst.Module) -> frozenset[str]:
    """What stands after `collate_fn=` in a file."""
    return frozenset(
        last_name(node.value)
        for node in descendants(tree)
        if isinstance(node, cst.Arg)
        and node.keyword is not None
        and node.keyword.value == "collate_fn"
    )


def is_in_host_class(run: Run) -> bool:
    """Whether a class gives items, or is named for what it does to data."""
    owned = (frame for frame in _frames(run) if frame.owner is not None)
    return any(map(_is_of_the_host, (cls for frame in owned for cls in _classes(run, frame))))


def _classes(run: Run, frame: Frame) -> list[Class]:
    found = [cls for cls in run.classes.values() if cls.ref == frame.owner]
    for cls in found:
        found += [base for base in cls.bases if isinstance(base, Class) and base not in found]
    return found


def _is_of_the_host(cls: Class) -> bool:
    bases = (getattr(base, "name", "").rpartition(".")[2] for base in cls.bases)
    return any(
        _has_any(name, _HOST_CLASSES) or name.lower().startswith("test")
        for name in (cls.name, *bases)
    )


def is_in_test_file(run: Run) -> bool:
    """Whether the functions of the file are called with what they make themselves: tests."""
    *folders, name = run.program.path.replace("\\", "/").split("/")
    return (
        not {"test", "tests"}.isdisjoint(folders)
        or any(part.startswith("conftest") for part in (*folders, name))
        or name.startswith("test_")
        or name.endswith(("_test.py", "_cpu.py"))
    )


def is_in_script_on_the_cpu(run: Run) -> bool:
    """Whether a file runs by itself and never speaks of a device: it decides for the CPU."""
    return not _speaks_of_devices(run.program.text) and _runs_by_itself(run.program.tree)


@functools.lru_cache(maxsize=1)
def _speaks_of_devices(text: str) -> bool:
    return _has_any(text, _DEVICES) or not {"mps", "xpu"}.isdisjoint(_identifiers(text.lower()))


@functools.lru_cache(maxsize=1)
def _runs_by_itself(tree: cst.Module) -> bool:
    """Whether a file has a loop of its own, a `__main__`, or a step that trains."""
    if any(isinstance(one, (cst.For, cst.While)) or _is_main(one) for one in tree.body):
        return True
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "backward"
        for node in descendants(tree)
    )


def _is_main(statement: cst.CSTNode) -> bool:
    test = statement.test if isinstance(statement, cst.If) else None
    left = test.left if isinstance(test, cst.Comparison) else None
    return isinstance(left, cst.Name) and left.value == "__name__"


def _functions(run: Run) -> Iterator[str]:
    """The names of the functions that led here, innermost first."""
    for frame in _frames(run):
        if isinstance(frame.node, cst.FunctionDef):
            yield frame.node.name.value


def _frames(run: Run) -> Iterator[Frame]:
    frame: Frame | None = run.frame
    while frame is not None:
        yield frame
        frame = frame.caller


def _has_any(name: str, parts: tuple[str, ...]) -> bool:
    lowered = name.lower()
    return any(part in lowered for part in parts)


def _identifiers(text: str) -> frozenset[str]:
    return frozenset("".join(one if one.isalnum() or one == "_" else " " for one in text).split())
