"""Imported by every Python process of a run: what the judge asked for, and what it used.

It changes no file, and only what the scripts of pytorch/examples need of them: seeds, small data.
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

PLUGINS = "CORPORA_PLUGINS"
USED = "CORPORA_USED"
SEEDED = "EXAMPLES_SEED"
EXAMPLES = Path(__file__).parents[2] / "pytorch_examples" / "child" / "sitecustomize.py"

# torchvision's wheel is built for CUDA: this module of it registers operators that a build of
# torch for the CPU lacks.
sys.modules.setdefault(
    "torchvision._meta_registrations", ModuleType("torchvision._meta_registrations")
)


def note_memory(folder: Path) -> None:
    """Note how much memory of GPUs this process had at most, if it had any."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        devices = range(torch.cuda.device_count())
        peak = sum(torch.cuda.max_memory_allocated(each) for each in devices)
        (folder / f"{os.getpid()}.bytes").write_text(str(peak))


if USED in os.environ:
    atexit.register(note_memory, Path(os.environ[USED]))
if SEEDED in os.environ:
    runpy.run_path(str(EXAMPLES))
for name in os.environ.get(PLUGINS, "").split():
    import_module(name)
