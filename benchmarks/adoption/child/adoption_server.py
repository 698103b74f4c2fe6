"""Runs scripts, each in a process that is forked off one in which torch is imported already.

A line of standard input asks for a run, in JSON; a line of standard output is the answer. Started
anew, a script would spend most of its time on imports.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

SLOW = ("numpy", "torch", "torchvision", "matplotlib.pyplot")


def main() -> None:
    """Answer until there is nothing more to read."""
    for name in SLOW:
        with suppress(ImportError):
            __import__(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), file=answers, flush=True)


def _run(asked: dict[str, Any]) -> int | None:
    """The exit status of a script; None where it did not end in time."""
    process = os.fork()
    if not process:
        os.setsid()
        os._exit(_status(asked))
    ends = time.monotonic() + asked["limit"]
    while time.monotonic() < ends:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            _end_group(process)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    _end_group(process)
    os.waitpid(process, 0)
    return None


def _end_group(process: int) -> None:
    """End what a script has started and left."""
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def _status(asked: dict[str, Any]) -> int:
    """Be the script, in a process of its own."""
    said = os.open(asked["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for ours, theirs in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(ours, theirs)
    sys.stdin = os.fdopen(0)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1) for number in (1, 2))
    try:
        _prepare(asked)
        _execute(asked)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - whatever ends a script is told
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _prepare(asked: dict[str, Any]) -> None:
    os.chdir(asked["folder"])
    os.environ.update(asked["environment"])
    import examples_play
    import examples_seeds
    import numpy as np
    import torch

    from runtime_guard.launcher.activation import activate_from_environment

    seed = int(os.environ["EXAMPLES_SEED"])
    random.seed(seed)
    torch.manual_seed(seed)
    examples_seeds.after_import(np)
    examples_play.after_import(torch)
    activate_from_environment()


def _execute(asked: dict[str, Any]) -> None:
    script = Path(asked["folder"]) / asked["script"]
    sys.argv = [asked["script"], *asked["arguments"]]
    sys.path.insert(0, asked["folder"])
    main = ModuleType("__main__")
    main.__dict__.update({"__file__": str(script), "__builtins__": __builtins__})
    sys.modules["__main__"] = main
    exec(compile(script.read_bytes(), str(script), "exec"), main.__dict__)


if __name__ == "__main__":
    main()
