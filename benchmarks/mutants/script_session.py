"""Scripts that are run on request, in forks of a process that has imported torch.

To import torch takes longer than most of these scripts take after that.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.corpora.inputs import make
from benchmarks.corpora.outcomes import ScriptOutcome
from benchmarks.corpora.running import Extras, Workplace, run_script
from benchmarks.corpora.subjects import Script, Subject
from benchmarks.mutants.connection import CHILD, LONGEST, Connection, connected
from runtime_guard.mutation.failures import printed

SERVER = "mutants_scripts.py"


class ScriptSession:
    """Scripts of one machine that are run on request.

    Args:
        connection: the near end of the connection.
        started_in: the copy in which the process was started.
    """

    def __init__(self, connection: Connection, started_in: Path) -> None:
        self._connection = connection
        self._started_in = started_in

    def run(self, script: Script, tree: Path, extras: Extras, limit: float) -> ScriptOutcome:
        """Run the commands of a script in a new copy, until one fails.

        The memory of its child processes is not counted.
        """
        folder = tree / script.folder
        for name in script.inputs:
            make(name, folder)
        told = self._connection.folder / "said.txt"
        told.unlink(missing_ok=True)
        began = time.monotonic()
        status: int | None = 0
        used = 0
        for command in script.commands:
            left = limit - (time.monotonic() - began)
            status, memory = self._run(command, folder, tree, extras, told, left)
            used = max(used, memory)
            if status != 0:
                break
        said = told.read_text(encoding="utf-8", errors="replace") if told.exists() else ""
        failure = printed(said.splitlines())
        error = "" if failure is None else f"{failure.type}: {failure.message}"
        return ScriptOutcome(status, said, error, used, time.monotonic() - began, tree)

    def _run(
        self, command: str, folder: Path, tree: Path, extras: Extras, told: Path, limit: float
    ) -> tuple[int | None, int]:
        """The exit status of a command, and how much memory of GPUs it had."""
        memory = self._connection.folder / "memory.txt"
        memory.unlink(missing_ok=True)
        reply = self._connection.ask(
            {
                "words": shlex.split(_filled(command)),
                "folder": str(folder),
                "said": str(told),
                "memory": str(memory),
                "variables": _variables(extras),
                "trees": [str(self._started_in), str(tree)],
                "limit": limit,
            }
        )
        status = None if reply["ending"] == "late" else int(reply["status"])
        return status, int(memory.read_text()) if memory.exists() else 0


def _variables(extras: Extras) -> dict[str, str]:
    return {**extras.variables, "CORPORA_PLUGINS": " ".join(extras.modules)}


def can_be_forked(script: Script) -> bool:
    """Whether its commands are scripts, and no launcher's."""
    words = [shlex.split(command)[0] for command in script.commands]
    return all(word.endswith(".py") for word in words)


def _filled(command: str) -> str:
    return command.replace("{device}", "cuda").replace("{first}", "cuda:0")


@contextmanager
def script_session(place: Workplace, subject: Subject, script: Script) -> Iterator[ScriptSession]:
    """A session for all scripts of a subject that want the machine that this one wants.

    Raises:
        SessionError: it could not be started.
    """
    tree = place.lay_out(subject, f"{subject.folder_name}-session").resolve()
    server = replace(script, commands=(shlex.quote(str(CHILD / SERVER)),), folder=".", inputs=())

    def start(extras: Extras) -> str:
        return run_script(place, subject, server, tree, extras=extras, limit=LONGEST).fault

    with connected(start, {}) as connection:
        yield ScriptSession(connection, tree)
