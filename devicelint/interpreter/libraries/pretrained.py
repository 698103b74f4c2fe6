"""Models that libraries load: with weights on the CPU, spread over what there is, or with none."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Device, Unsure
from devicelint.domain.values import NONE, Const, DeviceHandle, ImportedName, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function, library_call
from devicelint.interpreter.facts.mentions import mentions_in
from devicelint.interpreter.torch.modules.registration import built

_EMPTYING = ("accelerate", "accelerate.big_modeling", "accelerate.utils")
_QUANTIZING = ("quantization_config", "load_in_8bit", "load_in_4bit")
_DISPERSING = ("device_map", "tp_plan", *_QUANTIZING)


@library_call("Pretrained")
def pretrained(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A model with its weights: on the CPU, unless it is spread over what there is."""
    if not isinstance(receiver, ImportedName):
        return Unknown("made by an object")
    device: Device = run.default_device
    given = [arguments.keywords[name] for name in _DISPERSING if name in arguments.keywords]
    if arguments.open or any(argument.value not in (NONE, Const(False)) for argument in given):
        device = Unsure("accelerate places it, and brings it its inputs")
    elif _may_be_quantized(run, arguments):
        device = Unsure("transformers places what was saved with a quantization")
    return built(run, site, receiver.name, device)


def _may_be_quantized(run: Run, arguments: Arguments) -> bool:
    """Whether somebody names the file of a model in a program that deals with quantized ones."""
    path = arguments.get(0, "pretrained_model_name_or_path")
    if path is None or isinstance(path.value, Const):
        return False
    return not mentions_in(run.module).keywords.keys().isdisjoint(_QUANTIZING)


@function(*(f"{one}.init_empty_weights" for one in _EMPTYING))
def init_empty_weights(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A context in which models get no weights; who loads these says where they are then."""
    return DeviceHandle(Unsure("its weights are loaded afterwards"), site)
