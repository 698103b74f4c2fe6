"""Less of the data and of the models that torchvision makes up or downloads."""

from __future__ import annotations

import inspect
from types import ModuleType, SimpleNamespace
from typing import Any

SAMPLES = 24
SIDE = 64
NARROW = 16


def after_import(module: ModuleType) -> None:
    """Make small what the module gives."""
    if module.__name__ == "torchvision.models.vgg":
        _narrow_vgg(module)
    else:
        _few_samples(module)


def _few_samples(module: ModuleType) -> None:
    """Give `FakeData` a few small pictures, in place of as many as there are in ImageNet."""
    original = module.FakeData.__init__
    signature = inspect.signature(original)

    def init(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        channels, height, width = bound.arguments["image_size"]
        bound.arguments["image_size"] = (channels, min(height, SIDE), min(width, SIDE))
        bound.arguments["size"] = min(bound.arguments["size"], SAMPLES)
        original(*bound.args, **bound.kwargs)

    module.FakeData.__init__ = init


def _narrow_vgg(vgg: Any) -> None:
    """Give the features of VGG16, a sixteenth as wide and with random weights."""
    narrow = [layer if layer == "M" else max(layer // NARROW, 4) for layer in vgg.cfgs["D"]]

    def vgg16(**_kwargs: Any) -> SimpleNamespace:
        return SimpleNamespace(features=vgg.make_layers(narrow))

    vgg.vgg16 = vgg16
