"""Stands in for what torchvision downloads: a few samples of noise, and narrow networks."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

SAMPLES = 192
SHAPES = {
    "MNIST": (28, 28),
    "FashionMNIST": (28, 28),
    "KMNIST": (28, 28),
    "CIFAR10": (32, 32, 3),
    "CIFAR100": (32, 32, 3),
}


def after_import(module: ModuleType) -> None:
    """Take nothing from the network."""
    if module.__name__ == "torchvision.models":
        _no_weights(module)
        return
    for name, shape in SHAPES.items():
        original = getattr(module, name)
        for place in (module, sys.modules[original.__module__]):
            setattr(place, name, _small(original, shape))
    module.ImageFolder = _folder(module)  # type: ignore[attr-defined]


def _small(original: Any, shape: tuple[int, ...]) -> Any:
    """A data set of noise that is used as the original is."""
    import numpy
    import torch

    class Small(original):
        """A few samples that are made up."""

        def __init__(
            self,
            root: Any = "",
            train: bool = True,
            transform: Any = None,
            target_transform: Any = None,
            download: bool = False,
        ) -> None:
            del download
            self.root, self.train = root, train
            self.transform, self.target_transform = transform, target_transform
            numbers = numpy.random.default_rng(int(train))
            data = numbers.integers(0, 256, (SAMPLES, *shape), dtype="uint8")
            targets = [index % 10 for index in range(SAMPLES)]
            planar = len(shape) == 2
            self.data = torch.from_numpy(data) if planar else data
            self.targets = torch.tensor(targets) if planar else targets
            self.classes = [str(each) for each in range(10)]

    Small.__name__ = Small.__qualname__ = original.__name__
    return Small


def _folder(datasets: Any) -> Any:
    def image_folder(_root: Any = "", transform: Any = None, *_args: Any, **_kwargs: Any) -> Any:
        folder = datasets.FakeData(SAMPLES, (3, 256, 256), 2, transform)
        folder.classes = ["0", "1"]
        folder.imgs = [(f"{index}.png", index % 2) for index in range(SAMPLES)]
        return folder

    return image_folder


def _no_weights(models: Any) -> None:
    """Give networks with random weights, whatever is asked for."""
    for name in ("alexnet", "vgg11", "vgg16", "vgg19", "resnet18", "resnet34", "resnet50"):
        original = getattr(models, name)

        def untrained(*_args: Any, _original: Any = original, **kwargs: Any) -> Any:
            kwargs.pop("pretrained", None)
            return _original(**kwargs | {"weights": None})

        setattr(models, name, untrained)
