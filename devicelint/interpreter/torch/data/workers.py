"""Worker processes of a DataLoader: forked, they cannot use the accelerator of their parent."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.data_events import AcceleratorInWorker
from devicelint.domain.devices import is_accelerator
from devicelint.domain.events import Event, Transfer
from devicelint.domain.history import Verb
from devicelint.domain.values import (
    HOST,
    NONE,
    Bound,
    Class,
    Const,
    Function,
    Instance,
    Partial,
    Stream,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import CLASS_FIELD, class_member
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.stdlib.argparse import default_of

_NUM_WORKERS, _COLLATE, _INIT, _CONTEXT = 5, 6, 10, 11


def note_workers(run: Run, arguments: Arguments, site: cst.Call) -> None:
    """Walk what the workers of a loader run, and say where that goes to an accelerator."""
    if arguments.open or not run.world.accelerators or not _forks(run, arguments):
        return
    for function, given in _run_by_workers(run, arguments, site):
        for use in dict.fromkeys(_uses(run, function, given, site)):
            run.announce(use)


def _forks(run: Run, arguments: Arguments) -> bool:
    """Whether there are workers for sure, which are forked: nothing says otherwise."""
    if "set_start_method" in run.module_code or not has_workers(run, arguments):
        return False
    context = arguments.get(_CONTEXT, "multiprocessing_context")
    return context is None or context.value == NONE


def has_workers(run: Run, arguments: Arguments) -> bool:
    """Whether a loader has workers for sure, or has some by default."""
    workers = arguments.get(_NUM_WORKERS, "num_workers")
    if workers is None:
        return False
    count = workers.value
    if isinstance(count, Symbolic):
        count = default_of(run, count)
    number = count.value if isinstance(count, Const) else None
    return isinstance(number, int) and number > 0


def _run_by_workers(
    run: Run, arguments: Arguments, site: cst.Call
) -> Iterator[tuple[Value, Arguments]]:
    """The functions that workers call, with what they call them with."""
    dataset = arguments.get(0, "dataset")
    if dataset is not None and isinstance(dataset.value, Instance):
        cls = run.state.read(dataset.value.ref, CLASS_FIELD)
        for name in ("__getitem__", "__iter__") if isinstance(cls, Class) else ():
            member = class_member(run, cls, name) if isinstance(cls, Class) else None
            if isinstance(member, Function):
                given = [Argument(site, HOST)] if name == "__getitem__" else []
                yield Bound(member, dataset.value), Arguments(given)
    for position, name in ((_COLLATE, "collate_fn"), (_INIT, "worker_init_fn")):
        argument = arguments.get(position, name)
        if argument is not None and isinstance(argument.value, (Function, Bound, Partial)):
            samples: Value = HOST if position == _INIT else Stream(Unknown("samples"), filled=True)
            yield argument.value, Arguments([Argument(site, samples)])


def _uses(
    run: Run, function: Value, given: Arguments, site: cst.Call
) -> Iterator[AcceleratorInWorker]:
    """The transfers that a function makes, and what it creates on an accelerator and returns."""
    transfers: list[Transfer] = []

    def note(event: Event, run: Run) -> None:
        if isinstance(event, Transfer):
            transfers.append(event)

    before, entered, name = run.state.fork(), set(run.entered), _name_of(function)
    with run.diverted_to(note):
        made = run.call(function, given, site)
    run.state, run.entered = before, entered
    for transfer in transfers:
        target = transfer.target
        if target is not None and is_accelerator(target):
            yield AcceleratorInWorker(transfer.site, name, target, site)
    if isinstance(made, Tensor) and is_accelerator(made.device) and made.since.verb is _CREATED:
        yield AcceleratorInWorker(made.since.site, name, made.device, site)


_CREATED = Verb.CREATED_ON


def _name_of(function: Value) -> str:
    """What a worker runs, as a message names it."""
    while isinstance(function, (Bound, Partial)):
        function = function.function
    return function.name if isinstance(function, Function) else "a function"
