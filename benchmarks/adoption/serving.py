"""The process from which scripts are forked off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.pytorch_examples.scratch import CHILD as EXAMPLES_CHILD
from benchmarks.pytorch_examples.scratch import INHERITED, ROOT

CHILD = Path(__file__).parent / "child"


class Server:
    """Runs scripts, one after the other.

    Args:
        packages: where packages lie that scripts import.
    """

    def __init__(self, packages: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(CHILD / "adoption_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(packages),
            text=True,
        )

    def run(
        self,
        folder: Path,
        words: Sequence[str],
        environment: Mapping[str, str],
        limit: float,
    ) -> tuple[int | None, str]:
        """Run a script of a folder: its exit status, or None, and what it said."""
        said = folder.parent / "said.txt"
        asked = {
            "folder": str(folder),
            "script": words[0],
            "arguments": list(words[1:]),
            "environment": dict(environment),
            "said": str(said),
            "limit": limit,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        status: int | None = json.loads(self._process.stdout.readline())
        return status, said.read_text(errors="replace")

    def close(self) -> None:
        """Let it end."""
        self._process.communicate()


def _environment(packages: Path) -> dict[str, str]:
    paths = (CHILD, CHILD / "stubs", EXAMPLES_CHILD, packages, ROOT)
    return {
        **{name: os.environ[name] for name in INHERITED if name in os.environ},
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
        "EXAMPLES_SEED": "20",
        "EXAMPLES_RECORD": os.devnull,
        # Many of the scripts are of before torch.load asked for weights alone.
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",
    }
