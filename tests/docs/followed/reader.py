"""A reader who does what a page says, in an empty folder and an empty environment."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.docs.followed.environment import Environment, installed_by, is_pip_install
from tests.docs.followed.page import Command, File, Quotation, Step, apply

NOT_RUN = {
    "git push": "there is no repository to push to",
}
"""Commands that are not run, each with the reason. `pip install` is: see `Environment`."""

_WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "ada"), ("EMAIL", "ada@example.org"))
}
_SECONDS = re.compile(r"\bin \d+\.\d+s\b")


def normal(output: str) -> str:
    """Return an output without how long it took, which is all that differs between two machines."""
    return _SECONDS.sub("in 0.00s", output)


class Reader:
    """Follows steps, and notes what is printed."""

    def __init__(self, folder: Path) -> None:
        """Begin in an empty folder below this one."""
        self.environment = Environment(folder / "environment")
        self.here = folder / "here"
        self.said: dict[int, str] = {}
        """What commands printed, by their lines on the page."""
        self.status: dict[int, int] = {}
        self._home = folder / "home"
        for each in (self.here, self._home):
            each.mkdir()

    def follow(self, step: Step) -> None:
        """Take one step."""
        match step:
            case File():
                self._write(step, self.here / step.name)
            case Command():
                self.status[step.line], self.said[step.line] = self.type(step.typed)
            case Quotation():
                pass

    @staticmethod
    def _write(step: File, path: Path) -> None:
        match step.order:
            case "save":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step.text, encoding="utf-8")
            case "append":
                path.write_text(path.read_text(encoding="utf-8") + step.text, encoding="utf-8")
            case "change":
                apply(step.text, path)

    def type(self, command: str) -> tuple[int, str]:
        """Return the exit status of a command, and what it prints on both streams."""
        if command in NOT_RUN:
            return 0, ""
        if is_pip_install(command):
            self.environment.pip_install(installed_by(command))
            return 0, ""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.here,
            env=self._variables(),
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=900,
        )
        return done.returncode, done.stdout

    def _variables(self) -> dict[str, str]:
        return {
            **_WHO,
            "PATH": os.pathsep.join([str(self.environment.bin), os.defpath]),
            "HOME": str(self._home),
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "OMP_NUM_THREADS": "1",
            # The two streams come in the order in which a terminal shows them.
            "PYTHONUNBUFFERED": "1",
        }
