"""A distribution with rules of its own, put on the path as an installer would."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from devicelint import plugins, rule_index

SCRIPT = """\
import torch
assert torch.cuda.is_available()
device = torch.device("cuda")
net = torch.nn.Linear(2, 2)
net.cuda()
"""

RULE = """\
from devicelint.api import *


class House(Rule):
    code = "HSE101"
    name = "house-rule"
    severity = Severity.WARNING
    summary = "Something is moved"

    def on_transfer(self, event, scene):
        yield Report(event.site, "moved")
"""
RULE_PAGE = "# house-rule (HSE101)\n"

Install = Callable[..., None]


@contextmanager
def installing(folder: Path) -> Iterator[Install]:
    """What puts distributions below `folder` on the path; they are gone afterwards."""
    with pytest.MonkeyPatch.context() as patch:

        def install(files: Mapping[str, str], value: str = "house", name: str = "house-rules"):
            write(folder / name, {**files, **record(name, value)})
            patch.syspath_prepend(str(folder / name))
            forget()

        yield install
    for name, module in tuple(sys.modules.items()):
        if (module.__dict__.get("__file__") or "").startswith(str(folder)):
            del sys.modules[name]
    forget()


def record(name: str, value: str) -> dict[str, str]:
    """What an installer notes of a distribution."""
    folder = f"{name.replace('-', '_')}-1.0.dist-info"
    return {
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{folder}/entry_points.txt": f"[devicelint.rules]\nhouse = {value}\n",
    }


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files by their paths in a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def forget() -> None:
    """Let devicelint look for plug-ins anew."""
    importlib.invalidate_caches()
    rule_index._installed.any_installed.cache_clear()
    plugins._loaded.cache_clear()
