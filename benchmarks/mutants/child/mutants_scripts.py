"""Imports what scripts import, and then runs those that it is asked for, each in a fork."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import mutants_forked

IMPORTED = ("torch", "torch.optim", "torch.utils.data", "torch.nn.functional", "torchvision")


def answer(request: mutants_forked.Request) -> str:
    """Run a script, with what it prints going to a file."""
    with Path(request["said"]).open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    words = request["words"]
    started_in, tree = request["trees"]
    sys.path[:] = [entry.replace(started_in, tree, 1) for entry in sys.path]
    os.environ["PYTHONPATH"] = os.environ["PYTHONPATH"].replace(started_in, tree)
    os.environ.update(request["variables"])
    for name in os.environ.get("CORPORA_PLUGINS", "").split():
        import_module(name)
    os.chdir(request["folder"])
    sys.argv[:] = words
    # Python puts the folder of a script first.
    sys.path[0] = str(Path(words[0]).resolve().parent)
    ended = _status(words[0])
    Path(request["memory"]).write_text(str(_peak()))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended)


def _peak() -> int:
    torch = sys.modules["torch"]
    devices = range(torch.cuda.device_count())
    return sum(torch.cuda.max_memory_allocated(each) for each in devices)


def _status(script: str) -> int:
    """The exit status with which Python would end."""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - Python prints all that a script does not catch
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    for name in IMPORTED:
        with suppress(ImportError):
            import_module(name)
    mutants_forked.serve(answer)
