"""Devices that are named outside of what is seen: by an import, a setting, a backend's name."""

from __future__ import annotations

from devicelint.domain.devices import Device, Opaque
from devicelint.interpreter.engine.steps import Notes


class Backends(Notes):
    """The names that the program gives to backends of its own."""

    def __init__(self) -> None:
        self.names: set[str] = set()


def named_by_import(name: str) -> Device | None:
    """What torch holds under a name is a dtype, a layout or a memory format, and never a device.

    Python's own types are dtypes, too: `x.to(int)`.
    """
    is_dtype = name.startswith(("torch.", "builtins.")) or "dtype" in name
    return None if is_dtype else Opaque(name)


def named_by_setting(code: str) -> Device | None:
    """`settings["device"]` is one device wherever it is written so; `settings["dtype"]` is none."""
    last = code.rpartition("[")[2].rpartition(".")[2]
    return None if "dtype" in last else Opaque(code)
