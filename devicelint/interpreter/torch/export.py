"""Models that are recorded at work on an example, and code that asks whether it is recorded."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import FALSE, Module, OneOf, Tuple, Unknown, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function


@function("torch.onnx.export", "torch.jit.trace", "torch.export.export")
def record(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The model is called with the example, which has to be where the model is."""
    model = arguments.get(0, "model") or arguments.get(0, "func") or arguments.get(0, "mod")
    example = arguments.get(1, "args") or arguments.get(1, "example_inputs")
    if model is None:
        return Unknown("no model is recorded")
    if example is not None and isinstance(model.value, (Module, OneOf)):
        assert isinstance(model.site, cst.BaseExpression)
        call = cst.Call(model.site, site.args[1:])
        run.call(model.value, Arguments(_inputs(example)), call)
    return model.value if name == "torch.jit.trace" else Unknown(f"the result of {name}()")


@function(
    *("torch.jit.is_scripting", "torch.jit.is_tracing", "torch.onnx.is_in_onnx_export"),
    *("torch.compiler.is_compiling", "torch.compiler.is_dynamo_compiling"),
    *("torch.compiler.is_exporting", "torch._dynamo.is_compiling"),
)
def is_recorded(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Code that Python runs is neither traced nor compiled: what stands there for that is left."""
    return FALSE


def _inputs(example: Argument) -> list[Argument]:
    """A tuple is one argument after another, and anything else is the only one."""
    if not isinstance(example.value, Tuple):
        return [example]
    sites = [example.site] * len(example.value.items)
    if isinstance(example.site, cst.Tuple) and len(example.site.elements) == len(sites):
        sites = [element.value for element in example.site.elements]
    return [Argument(place, one) for place, one in zip(sites, example.value.items, strict=True)]
