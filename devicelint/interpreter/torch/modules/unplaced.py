"""A Module that was only built, called with what is not known: it is where that is, for the call.

Its `forward` is walked with inputs of which nobody knows the device.  That they are not on the CPU,
where the Module was built and is yet to be moved from, is nothing that the code shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from devicelint.domain.devices import CPU, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import Module, Placed, Tensor, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.modules.registration import move_module, submodules

_NOWHERE = Unsure("what it is called with is not known")


_NOTHING: AbstractContextManager[None] = nullcontext()


def unplaced_for(run: Run, module: Module, arguments: Arguments) -> AbstractContextManager[None]:
    """For a call with unknown inputs, a Module that was never moved may be anywhere."""
    place = module_device(run, module)
    is_new = place.device == CPU and place.since.verb is Verb.BUILT
    is_open = is_new and any(_is_unknown(one.value) for one in arguments)
    return _unplaced(run, module, place) if is_open else _NOTHING


@contextmanager
def _unplaced(run: Run, module: Module, place: Placed) -> Iterator[None]:
    before = [
        (one.ref, name, value)
        for one in submodules(run, module)
        for name, value in run.state.fields(one.ref).items()
        if isinstance(value, (Placed, Tensor))
    ]
    move_module(run, module, _NOWHERE, Step(Verb.BUILT, place.since.site, _NOWHERE))
    yield
    for ref, name, value in before:
        now = run.state.read(ref, name)
        if isinstance(now, (Placed, Tensor)) and now.device is _NOWHERE:
            run.state.write(ref, name, value)


def _is_unknown(value: Value) -> bool:
    return isinstance(value, Unknown) or (
        isinstance(value, Tensor) and isinstance(value.device, Unsure)
    )
