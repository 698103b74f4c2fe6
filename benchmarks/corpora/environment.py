"""The environment in which all subjects run: a virtual one, on top of the one that runs this.

torch is that of the interpreter that makes it; nothing that is installed may replace it.  The
subjects themselves are not installed: they are imported from copies of their checkouts.
"""

from __future__ import annotations

import subprocess
import sysconfig
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from benchmarks.corpora.subjects import Subject
from benchmarks.pytorch_examples.scratch import PACKAGES, torchvision_for

DEFAULT = Path("~/.cache/devicelint-benchmarks/corpora").expanduser()

PLUGINS = ("pytest", "pytest-mock", "parameterized", "expecttest", "hypothesis")
"""What test suites are written with."""


class InstallError(Exception):
    """Something could not be installed, told in a few lines."""


@dataclass(frozen=True)
class Environment:
    """A folder with a virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def make(self, chosen: Iterable[Subject]) -> Iterator[str]:
        """Make it if it is not there, and install what these subjects want; say what is done.

        Raises:
            InstallError: pip could not.
        """
        if not self.python.exists():
            yield f"making {self.folder}"
            venv.create(self.folder, with_pip=True)
            self._lay_on_top()
        subjects = list(chosen)
        wanted = sorted({each for subject in subjects for each in subject.requirements})
        bare = sorted({each for subject in subjects for each in subject.bare})
        vision = f"torchvision=={torchvision_for(metadata.version('torch'))}"
        yield f"installing {len(wanted)} requirements"
        self._install([*PLUGINS, *wanted])
        yield f"installing {len(bare)} requirements without what they depend on"
        self._install(["--no-deps", vision, *PACKAGES, *bare])

    def _lay_on_top(self) -> None:
        """Let it find what the running interpreter has: pip takes that for installed, too."""
        own = next(self.folder.glob("lib/python*/site-packages"))
        below = sysconfig.get_paths()["purelib"]
        (own / "below.pth").write_text(f"{below}\n", encoding="utf-8")

    def _install(self, wanted: Iterable[str]) -> None:
        constraint = self.folder / "constraints.txt"
        constraint.write_text(f"torch=={metadata.version('torch').split('+')[0]}\n")
        command = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        words = [*map(str, command), "--constraint", str(constraint), *wanted]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode:
            raise InstallError(f"pip could not install:\n{done.stderr[-2000:]}")
