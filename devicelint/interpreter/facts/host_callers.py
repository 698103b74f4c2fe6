"""Who calls a function, where that is a loader's worker or a runner of tests: values on the host.

Names decide here only where a library gives them their meaning: what pytest and unittest collect,
and the classes of torch that workers read data with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devicelint.domain.collected import is_collected
from devicelint.domain.devices import CPU
from devicelint.domain.history import Site
from devicelint.domain.values import (
    Bound,
    Class,
    DeviceHandle,
    Function,
    ImportedName,
    Instance,
    Module,
    Partial,
    Value,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.objects import CLASS_FIELD, class_member
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.item_paths import root_of

_DATA = ("torch.utils.data.", "torchvision.datasets.", "torchdata.")
"""Where the classes lie that give items, batches and their order to a DataLoader."""
_LIGHTNING = ("pytorch_lightning", "lightning", "lightning.pytorch")
TRAINED = frozenset(f"{package}.LightningModule" for package in _LIGHTNING)
"""Whose steps a trainer calls, with batches that it has moved to where the model is."""
_DATA_MODULES = frozenset(f"{package}.LightningDataModule" for package in _LIGHTNING)
_TEST_CASE = "unittest.TestCase"
_PARALLEL = frozenset(
    {
        *("torch.nn.DataParallel", "torch.nn.parallel.DataParallel"),
        "torch.nn.parallel.data_parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.nn.parallel.distributed.DistributedDataParallel",
    }
)
"""Wrappers that work with what they keep on accelerators, where there are any."""
_COMPUTING = ("torch.autograd.", "torch.distributions.")
"""Where the classes lie whose methods compute with what a model gives, wherever that is."""


def note_workers_calls(run: Run, value: Value) -> None:
    """A loader is given a function that puts samples together, or a dataset."""
    run.program.conduct.on_host.update(_called_by_workers(run, value))


def _called_by_workers(run: Run, value: Value) -> Iterator[Site]:
    match value:
        case Function(node=node):
            yield node
        case Bound(function) | Partial(function):
            yield from _called_by_workers(run, function)
        case Instance(ref):
            cls = run.state.read(ref, CLASS_FIELD)
            for name in ("__getitem__", "__getitems__", "__iter__", "__call__"):
                member = class_member(run, cls, name) if isinstance(cls, Class) else None
                if isinstance(member, Function):
                    yield member.node
        case _:
            pass


def is_of_data_class(run: Run) -> bool:
    """Whether this is a method of a class that gives data to a loader."""
    bases = {base for frame in run.frame.outwards() for base in library_bases(run, frame)}
    return any(base.startswith(_DATA) or base in _DATA_MODULES for base in bases)


def is_of_computing_class(run: Run) -> bool:
    """Whether this is reached from a method of an autograd function or a distribution."""
    frames = run.frame.outwards()
    return any(base.startswith(_COMPUTING) for one in frames for base in library_bases(run, one))


def is_of_parallel_wrapper(run: Run) -> bool:
    """Whether this is reached from a method of what spreads a module over the accelerators."""
    frames = run.frame.outwards()
    return any(base in _PARALLEL for one in frames for base in library_bases(run, one))


def is_reached_from_tests(run: Run) -> bool:
    """Whether a runner of tests calls this: what it gives is made by other tests' code."""
    return any(_is_test(run, frame) for frame in run.frame.outwards())


def is_reached_from_constructor(run: Run) -> bool:
    """Whether the walk began with a constructor: nobody is seen who calls it."""
    called = [frame for frame in run.frame.outwards() if frame.caller is not None]
    return bool(called) and called[-1].owner is not None and called[-1].name == "__init__"


def is_handed_out_by_tests(run: Run) -> bool:
    """Whether a file of tests has this and calls it nowhere: a test may give it to somebody."""
    if not is_collected(run.program.path):
        return False
    *_, first = (one for one in run.frame.outwards() if one.caller is not None)
    if any(_is_fixture(run, one.decorator) for one in _decorators(first.node)):
        return True
    return not _is_test(run, first)


def _decorators(node: cst.CSTNode) -> Sequence[cst.Decorator]:
    return node.decorators if isinstance(node, cst.FunctionDef) else ()


def _is_test(run: Run, frame: Frame) -> bool:
    node = frame.node
    if not isinstance(node, cst.FunctionDef):
        return False
    if _TEST_CASE in library_bases(run, frame):
        return True
    if any(_is_fixture(run, one.decorator) for one in node.decorators):
        return True
    if not (node.name.value.startswith("test") and is_collected(run.program.path)):
        return False
    if frame.owner is None or any(cls.name.startswith("Test") for cls in _classes(run, frame)):
        return True
    return any(True for _ in library_bases(run, frame))  # A test case of somebody else's.


def _is_fixture(run: Run, decorator: cst.BaseExpression) -> bool:
    named = decorator.func if isinstance(decorator, cst.Call) else decorator
    if not isinstance(named, (cst.Name, cst.Attribute)):
        return False
    value = run.evaluate(named)
    return isinstance(value, ImportedName) and value.name == "pytest.fixture"


def library_bases(run: Run, frame: Frame) -> Iterator[str]:
    """The full names of the bases of the class in which a method stands."""
    for cls in _classes(run, frame):
        for base in cls.bases:
            if not isinstance(base, Class):
                yield getattr(base, "name", "")


def _classes(run: Run, frame: Frame) -> list[Class]:
    """The class in which a method stands, and those that it is derived from."""
    found = [cls for cls in run.classes.values() if cls.ref == frame.owner]
    for cls in found:
        found += [base for base in cls.bases if isinstance(base, Class) and base not in found]
    return found


def is_of_object_on_the_cpu(run: Run) -> bool:
    """Whether the object whose method is walked keeps a device of its own, which is the CPU."""
    for frame in run.frame.outwards():
        if isinstance(frame.receiver, (Module, Instance)):
            kept = run.state.fields(frame.receiver.ref).values()
            if any(isinstance(one, DeviceHandle) and one.device == CPU for one in kept):
                return True
    return False


def is_given_from_outside(run: Run, place: str) -> bool:
    """Whether something is given to what is called first; what that hands on may be moved."""
    *_, first = (one for one in run.frame.outwards() if isinstance(one.node, cst.FunctionDef))
    assert isinstance(first.node, cst.FunctionDef)
    given = {one.name.value for one in first.node.params.params}
    return root_of(place) in given
