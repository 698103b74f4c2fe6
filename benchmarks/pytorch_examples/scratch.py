"""The scratch folder: what the scripts import, and a folder of its own for each run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from benchmarks.pytorch_examples.inputs import MAKERS
from benchmarks.pytorch_examples.runs import Run

CHILD = Path(__file__).parent / "child"
ROOT = Path(__file__).parents[2]
BOOT = ROOT / "runtime_guard" / "launcher" / "boot"
"""Activates in each process what `RUNTIME_GUARD_...` asks for, and then hands over to `CHILD`."""

PACKAGES = ("pillow", "six", "hydra-core", "omegaconf", "antlr4-python3-runtime==4.9.3", "tqdm")
"""What the scripts import beside torch and torchvision, and what that needs."""

UNCOPIED = shutil.ignore_patterns("*.pt", "*.pth", "*.jpg", "*.png", "wikitext-2", "__pycache__")

INHERITED = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "SYSTEMROOT")
"""Of the environment, what the scripts get: no setting of torch or of the guard."""


class ScratchError(Exception):
    """Something that the scripts need could not be had."""


def torchvision_for(torch: str) -> str:
    """The torchvision that goes with a release of torch: 0.28.0 with 2.13.0.

    Both are released together; minor numbers have been 15 apart since torch 2.0.
    """
    major, minor, patch = torch.split("+", maxsplit=1)[0].split(".")[:3]
    if major != "2":
        raise ScratchError(f"torch is {torch}: which torchvision goes with it is not known")
    return f"0.{int(minor) + 15}.{patch}"


@dataclass(frozen=True)
class Scratch:
    """A folder for everything that is made; nothing is written anywhere else.

    Attributes:
        root: the folder.
        checkout: where pytorch/examples lies; it is only read.
    """

    root: Path
    checkout: Path

    @property
    def packages(self) -> Path:
        """Where packages are installed that the scripts import."""
        return self.root / "packages"

    def install(self) -> None:
        """Install what is missing there, without what it depends on: torch is here already.

        Raises:
            ScratchError: pip could not.
        """
        done = self.packages / "installed"
        wanted = [f"torchvision=={torchvision_for(metadata.version('torch'))}", *PACKAGES]
        if done.exists() and done.read_text().split() == wanted:
            return
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--upgrade", "--target", str(self.packages)]
        finished = subprocess.run([*command, *wanted], check=False, capture_output=True, text=True)
        if finished.returncode:
            raise ScratchError(f"pip could not install {' '.join(wanted)}:\n{finished.stderr}")
        done.write_text("\n".join(wanted))

    def lay_out(self, run: Run, name: str) -> Path:
        """Copy the script's folder to a new one, with the data beside it; give the copy.

        Raises:
            ScratchError: the checkout has no such folder.
        """
        source = self.checkout / run.folder
        if not source.is_dir():
            raise ScratchError(f"{self.checkout} has no folder {run.folder}")
        above = self.root / "runs" / name
        shutil.rmtree(above, ignore_errors=True)
        folder = above / "script"
        shutil.copytree(source, folder, ignore=UNCOPIED)
        for each in run.inputs:
            MAKERS[each](above, folder)
        (above / "record").mkdir()
        (above / "probe").mkdir()
        return folder

    def environment(self, folder: Path, more: Mapping[str, str]) -> dict[str, str]:
        """The environment of a script in a copied folder."""
        paths = (BOOT, CHILD, CHILD / "stubs", self.packages, ROOT)
        return {
            **{name: os.environ[name] for name in INHERITED if name in os.environ},
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "EXAMPLES_SEED": "20",
            "EXAMPLES_RECORD": str(folder.parent / "record"),
            "EXAMPLES_PROBE": str(folder.parent / "probe"),
            **more,
        }
