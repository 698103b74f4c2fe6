"""A new virtual environment, which has what `pip install` named, and nothing else.

Nothing is downloaded. devicelint is built into a wheel and installed by pip. Every other package,
with all that it requires, is linked to where it lies in the environment that runs the tests.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
_SCRIPT = """\
#!{python}
import sys
from {module} import {function}
sys.exit({function}())
"""


class NotInstalled(Exception):
    """A page names a package or an extra that there is not."""


class Environment:
    """The environment of a reader who has installed nothing yet."""

    def __init__(self, folder: Path) -> None:
        """Make it in the folder."""
        venv.create(folder, with_pip=False, symlinks=True)
        self.bin = folder / "bin"
        [self.packages] = folder.glob("lib/python*/site-packages")
        self._folder = folder
        self._has: set[tuple[str, str]] = set()

    def pip_install(self, words: list[str]) -> None:
        """Do what `pip install` does with these words."""
        for requirement in _requirements(words):
            self._install(requirement)

    def _install(self, requirement: Requirement) -> None:
        name = canonicalize_name(requirement.name)
        new = {(name, extra) for extra in ["", *requirement.extras]} - self._has
        if not new:
            return
        self._has |= new
        found = self._devicelint() if name == "devicelint" else self._linked(name)
        if not requirement.specifier.contains(found.version, prereleases=True):
            raise NotInstalled(f"{requirement}: {found.version} is there")
        if unknown := requirement.extras - set(found.metadata.get_all("Provides-Extra") or []):
            raise NotInstalled(f"{name} has no extra {unknown}")
        for required in map(Requirement, found.requires or []):
            marker = required.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for _, extra in new):
                self._install(required)

    def _linked(self, name: str) -> Distribution:
        try:
            found = distribution(name)
        except ModuleNotFoundError:
            raise NotInstalled(f"{name} is not in the environment that runs the tests") from None
        for top in {file.parts[0] for file in found.files or []} - {"..", "__pycache__"}:
            link = self.packages / top
            if not link.exists():
                link.symlink_to(Path(str(found.locate_file(top))))
        for entry in found.entry_points.select(group="console_scripts"):
            script = self.bin / entry.name
            python = self.bin / "python"
            text = _SCRIPT.format(python=python, module=entry.module, function=entry.attr)
            script.write_text(text, encoding="utf-8")
            script.chmod(0o755)
        return found

    def _devicelint(self) -> Distribution:
        if not any(self.packages.glob("devicelint-*.dist-info")):
            build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
            subprocess.run([*build, str(self._folder)], cwd=ROOT, check=True, capture_output=True)
            [wheel] = self._folder.glob("*.whl")
            pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install"]
            options = ["--quiet", "--no-deps", "--no-index", "--no-compile"]
            subprocess.run([*pip, *options, str(wheel)], check=True, capture_output=True)
        [found] = distributions(name="devicelint", path=[str(self.packages)])
        return found


def is_pip_install(command: str) -> bool:
    """Whether it is for `Environment.pip_install`."""
    return command.startswith("pip install ")


def installed_by(command: str) -> list[str]:
    """What stands after `pip install`."""
    return shlex.split(command, comments=True)[2:]


def _requirements(words: list[str]) -> Iterator[Requirement]:
    remaining = iter(words)
    for word in remaining:
        if word == "--index-url":
            next(remaining)
        else:
            yield Requirement(word)
