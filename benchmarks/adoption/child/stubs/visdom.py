"""Stands in for visdom: nothing is shown."""

from __future__ import annotations

from collections.abc import Callable


class Visdom:
    """Takes every call; a line needs numbers that it can read."""

    def __init__(self, *_args: object, **_options: object) -> None:
        pass

    def __getattr__(self, name: str) -> Callable[..., str]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_args, **_options: name
