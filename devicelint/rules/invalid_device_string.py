from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import DEVICE_TYPES, InvalidDevice, parse_device
from devicelint.domain.events import InvalidDeviceNamed
from devicelint.finding import Severity
from devicelint.fixes import Replace, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules._base import Report, Reports, Rule


class InvalidDeviceString(Rule):
    """A string that `torch.device` refuses."""

    code = "DEV406"
    name = "invalid-device-string"
    severity = Severity.ERROR
    summary = "A string names no device that torch knows"

    def on_invalid_device_named(self, event: InvalidDeviceNamed, scene: Scene) -> Reports:
        """The string is wrong on every machine."""
        meant = meant_device(event.text)
        advice = f": write {meant!r}" if meant else ""
        site = event.site
        assert isinstance(site, cst.CSTNode)
        fix = None
        if meant is not None and isinstance(site, cst.SimpleString):
            code = scene.code(site)
            fix = Rewrite(f"Write {meant!r}", (Replace(site, code.replace(event.text, meant)),))
        yield Report(
            site, f"{event.text!r} is no device that torch knows{advice}", fix=fix, anywhere=True
        )


_MISNAMED = {"gpu": "cuda", "nvidia": "cuda", "metal": "mps"}


def meant_device(text: str) -> str | None:
    """The device that was meant, where only one can be.

    >>> meant_device("GPU: 0")
    'cuda:0'
    """
    kind, colon, index = text.strip().lower().replace(" ", "").partition(":")
    kind = _MISNAMED.get(kind, kind)
    if kind[:4] == "cuda" and kind[4:].isdigit() and not colon:
        kind, colon, index = "cuda", ":", kind[4:]
    candidate = f"{kind}{colon}{index}"
    try:
        parse_device(candidate)
    except InvalidDevice:
        return None
    return candidate if kind in DEVICE_TYPES else None
