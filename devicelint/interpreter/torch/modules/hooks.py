"""Hooks of modules: what a call of a module calls before and after its `forward`."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devicelint.domain.alternatives import either_known
from devicelint.domain.values import (
    NONE,
    ImportedName,
    Instance,
    Module,
    Partial,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function, module_method
from devicelint.interpreter.torch.backward import await_backward, gradients_of, is_called_here

_KINDS = {
    "register_forward_pre_hook": "@hooks before forward",
    "register_forward_hook": "@hooks after forward",
    "register_full_backward_pre_hook": "@hooks before backward",
    "register_full_backward_hook": "@hooks after backward",
    "register_backward_hook": "@hooks after backward",
}
"""The methods that take a hook, and the field of a Module in which its hooks of that kind lie."""
_REMOVE = "torch.utils.hooks.RemovableHandle.remove"


def _register(kind: str) -> Callable[[Run, Module, Arguments, cst.Call], Value]:
    def register(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Value:
        given = arguments.get(0, "hook")
        if given is None or not is_called_here(given.value):
            return Unknown("a handle of a hook")
        if arguments.keywords.get("with_kwargs") is not None:
            return Unknown("a handle of a hook that is given keywords")
        hooks = _hooks(run, module, kind)
        run.state.write(module.ref, kind, Tuple((*hooks, given.value)))
        handle = Instance(run.allocate(site, kind), "torch.utils.hooks.RemovableHandle")
        remove = Partial(ImportedName(_REMOVE), (module, ImportedName(kind), given.value))
        run.state.write(handle.ref, "remove", remove)
        return handle

    return register


for _name, _kind in _KINDS.items():
    module_method[_name] = _register(_kind)


def _hooks(run: Run, module: Module, kind: str) -> tuple[Value, ...]:
    held = run.state.read(module.ref, kind)
    return held.items if isinstance(held, Tuple) else ()


@function(_REMOVE)
def remove(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The module calls the hook no longer."""
    module, kind, hook = (one.value for one in arguments.positional)
    assert isinstance(module, Module)
    assert isinstance(kind, ImportedName)
    kept = tuple(one for one in _hooks(run, module, kind.name) if one != hook)
    run.state.write(module.ref, kind.name, Tuple(kept))
    return NONE


def before_forward(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Arguments:
    """What `forward` is given: what hooks make of the positional arguments."""
    for hook in _hooks(run, module, _KINDS["register_forward_pre_hook"]):
        given = Tuple(tuple(one.value for one in arguments.positional))
        made = run.call(hook, _given(module, site, given), site)
        if made != NONE:
            items = made.items if isinstance(made, Tuple) else (made,)
            positional = [Argument(site, one) for one in items]
            arguments = Arguments(positional, arguments.keywords, arguments.open)
    return arguments


def after_forward(
    run: Run, module: Module, arguments: Arguments, result: Value, site: cst.Call
) -> Value:
    """What the call of a module gives: what hooks make of the result of `forward`."""
    given = Tuple(tuple(one.value for one in arguments.positional))
    for hook in _hooks(run, module, _KINDS["register_forward_hook"]):
        made = run.call(hook, _given(module, site, given, result), site)
        if isinstance(made, Unknown):
            result = either_known(result, made)
        elif made != NONE:
            result = made
    if not run.no_grad:
        _await_gradients(run, module, given, result, site)
    return result


def _await_gradients(run: Run, module: Module, given: Tuple, result: Value, site: cst.Call) -> None:
    inputs, outputs = Tuple(gradients_of(given)), Tuple(gradients_of(result))
    for hook in _hooks(run, module, _KINDS["register_full_backward_pre_hook"]):
        await_backward(run, hook, _given(module, site, outputs), site)
    for hook in _hooks(run, module, _KINDS["register_full_backward_hook"]):
        await_backward(run, hook, _given(module, site, inputs, outputs), site)


def _given(module: Module, site: cst.Call, *values: Value) -> Arguments:
    return Arguments([Argument(site.func, module), *(Argument(site, one) for one in values)])
