"""Real GPUs: how many this machine has, and how a run is shown some of them.

Those that a process cannot be kept from finding are no machine of a proof: MPS and XPU.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

VISIBLE = "CUDA_VISIBLE_DEVICES"
ASKED = "import torch; print(torch.cuda.device_count() if torch.cuda.is_available() else 0)"
SECONDS = 60
_BUILT_FOR = re.compile(r"^(?:cuda|hip)\b[^=]*= *[\"']", re.MULTILINE)
"""What distinguishes a build of torch with CUDA or ROCm, in the file of its version."""


def real_gpus() -> int:
    """How many there are, as torch says in a process of its own."""
    if not _may_have_some():
        return 0
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        command = [sys.executable, "-c", ASKED]
        said = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
        return int(said.stdout)
    return 0


def only(count: int, environment: Mapping[str, str]) -> dict[str, str]:
    """What lets a process find the first so many of the GPUs that this one finds."""
    known = environment.get(VISIBLE)
    devices = map(str, range(count)) if known is None else known.split(",")[:count]
    return {VISIBLE: ",".join(devices)}


def _may_have_some() -> bool:
    """Whether torch is built for any, as it is not in most places where proofs are made."""
    spec = find_spec("torch")
    with suppress(OSError):
        if spec is not None and spec.origin is not None:
            return bool(_BUILT_FOR.search(Path(spec.origin).with_name("version.py").read_text()))
    return False
