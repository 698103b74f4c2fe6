"""Functions of functions, and modules called with other parameters: `torch.func`."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import DictOf, Unknown, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers import known_elements

_STATELESS = (
    "torch.func.functional_call",
    "torch.nn.utils.stateless.functional_call",
)


@function("torch.vmap", "torch.func.vmap", "functorch.vmap", "torch._dynamo.disable")
def same_function(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What takes the same arguments, and works where they are."""
    given = arguments.get(0, "func" if name.endswith("vmap") else "fn")
    return Unknown(f"{name} of nothing") if given is None else given.value


@function(*_STATELESS)
def stateless(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The module is called; its parameters are replaced by others for that time."""
    module, inputs = arguments.get(0, "module"), arguments.get(2, "args")
    if module is None or inputs is None:
        return Unknown("a module without inputs")
    several = known_elements(run, inputs.value)
    given = [inputs] if several is None else [Argument(inputs.site, one) for one in several]
    named = arguments.get(3, "kwargs")
    is_open = named is not None and isinstance(named.value, DictOf)
    with run.muted():
        return run.call(module.value, Arguments(given, {}, is_open), site)
