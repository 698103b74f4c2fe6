"""Whether a function's callers may keep its tensors on an accelerator."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU, Device, DeviceOf, Opaque
from devicelint.domain.events import Operand
from devicelint.domain.values import Class, DeviceHandle, Instance, Module
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.cpu_choices import may_mean_cpu

_ON_THE_HOST = re.compile(
    r"^_*(?:test|bench)|collate|__getitem__|dataset|data_?loader|worker_init|(?:^|_)cpu(?:_|$)",
    re.IGNORECASE,
)
"""Functions that work on the CPU by what they are for: datasets, collation, tests."""
_HOST_CLASS = re.compile(
    r"Dataset|DataModule|DataLoader|Sampler|Collat|TestCase|^Test", re.IGNORECASE
)
_ASIDE = re.compile(r"(?:^|[\\/])(?:tests?[\\/]|test_[^\\/]*$|conftest)|_test\.py$|_cpu\.py$")
"""Files whose functions are called with what they make themselves: tests."""
_SPEAKS_OF_DEVICES = re.compile(r"cuda|gpu|device|accelerat|\bmps\b|\bxpu\b|fabric", re.IGNORECASE)
_RUNS = re.compile(r"^if __name__\s*==|\.backward\(|^(?:for|while)\s", re.MULTILINE)


def is_open(run: Run, *operands: Operand) -> bool:
    """Whether these may be on an accelerator, where somebody else chooses."""
    if any(isinstance(operand.device, Opaque) for operand in operands) and may_mean_cpu(run):
        return False
    if not any(_is_callers(operand.device) for operand in operands):
        return True
    if any(key.endswith(".is_cuda") and not chosen for key, chosen in run.world.settings):
        return False
    if any(isinstance(one.device, Opaque) and one.device.apart for one in operands):
        return all(_is_given_to_update(run, one.device) for one in operands)
    return not (works_on_the_host(run) or _places_itself(run))


_UPDATES = re.compile(r"update|step|average", re.IGNORECASE)


def _is_callers(device: Device) -> bool:
    """Whether a device is that of what a caller gives: of a tensor, seen or unseen."""
    if isinstance(device, Opaque):
        owner, _, attribute = device.origin.rpartition(".")
        return attribute == "device" and owner.isidentifier() and owner not in _KEEP_DEVICES
    return isinstance(device, DeviceOf)


_KEEP_DEVICES = frozenset(
    "self args opt opts options cfg config hparams flags FLAGS accelerator fabric trainer".split()
)
"""What has a device of its own that somebody has chosen: settings, and those who place models."""


def _is_given_to_update(run: Run, device: Device) -> bool:
    """Whether something is updated with a tensor: what its own methods hand on may be moved."""
    if not isinstance(device, DeviceOf):
        return True
    *_, first = (one for one in _frames(run) if isinstance(one.node, cst.FunctionDef))
    assert isinstance(first.node, cst.FunctionDef)
    given = [one.name.value for one in first.node.params.params]
    is_update = _UPDATES.search(first.node.name.value) is not None
    return is_update and re.split(r"[.\[]", device.place, maxsplit=1)[0] in given


def _places_itself(run: Run) -> bool:
    """Whether the object whose method is walked keeps a device of its own, which is the CPU."""
    for frame in _frames(run):
        if isinstance(frame.receiver, (Module, Instance)):
            kept = run.state.fields(frame.receiver.ref).values()
            if any(isinstance(one, DeviceHandle) and one.device == CPU for one in kept):
                return True
    return False


def works_on_the_host(run: Run) -> bool:
    """Whether the function that is walked belongs to what stays on the CPU."""
    if _is_script_on_the_cpu(run.program.text) or _ASIDE.search(run.program.path):
        return True
    for frame in _frames(run):
        if isinstance(frame.node, cst.FunctionDef):
            name = frame.node.name.value
            if _ON_THE_HOST.search(name) or name in _given_to_loaders(run.program.text):
                return True
        if frame.owner is not None and any(map(_is_of_the_host, _classes(run, frame))):
            return True
    return False


def _frames(run: Run) -> Iterator[Frame]:
    frame: Frame | None = run.frame
    while frame is not None:
        yield frame
        frame = frame.caller


def _classes(run: Run, frame: Frame) -> list[Class]:
    found = [cls for cls in run.classes.values() if cls.ref == frame.owner]
    for cls in found:
        found += [base for base in cls.bases if isinstance(base, Class) and base not in found]
    return found


def _is_of_the_host(cls: Class) -> bool:
    """A class that gives items, or that is named for what it does to data."""
    assert isinstance(cls.node, cst.ClassDef)
    bases = (getattr(base, "name", "") for base in cls.bases)
    return any(_HOST_CLASS.search(name.rpartition(".")[2]) for name in (cls.name, *bases))


@functools.lru_cache(maxsize=1)
def _given_to_loaders(text: str) -> frozenset[str]:
    """The functions that put batches together for the loaders of a file."""
    return frozenset(re.findall(r"\bcollate_fn\s*=\s*(?:self\.)?(\w+)", text))


@functools.lru_cache(maxsize=1)
def _is_script_on_the_cpu(text: str) -> bool:
    """Whether a file runs by itself and never speaks of a device: it decides for the CPU."""
    return _RUNS.search(text) is not None and _SPEAKS_OF_DEVICES.search(text) is None
