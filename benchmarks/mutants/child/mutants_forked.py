"""Answers requests, each in a process forked for it: one JSON document a line, over a socket."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

SOCKET = "MUTANTS_SOCKET"

Request = Mapping[str, Any]

LATE, DONE = "late", "done"

_PAUSE = 0.002


def serve(answer: Callable[[Request], str]) -> None:
    """Answer requests until nobody asks any more.

    `answer` runs in the forked process; what it gives is the reply's `said`.
    """
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ[SOCKET])
        stream = connection.makefile("rw", encoding="utf-8")
        stream.write(json.dumps({"ready": os.getpid()}) + "\n")
        stream.flush()
        for line in stream:
            reply = _answered(json.loads(line), answer)
            stream.write(json.dumps(reply) + "\n")
            stream.flush()


def _answered(request: Request, answer: Callable[[Request], str]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        _run(request, answer, writing)
    os.close(writing)
    ending, status = _wait(child, time.monotonic() + request["limit"])
    with os.fdopen(reading, encoding="utf-8", errors="replace") as said:
        return {"ending": ending, "status": status, "said": said.read()}


def _run(request: Request, answer: Callable[[Request], str], writing: int) -> None:
    """In the forked process, which ends here."""
    status = 1
    try:
        said = answer(request)
        os.write(writing, said.encode()[:4000])
        status = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, it ends this process alone
        os.write(writing, f"{type(error).__name__}: {error}".encode()[:4000])
    finally:
        os._exit(status)


def _wait(child: int, until: float) -> tuple[str, int]:
    """Wait for a child that leads a group of its own, and end what is left of that."""
    ending, status = LATE, -1
    while time.monotonic() < until:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            ending, status = DONE, os.waitstatus_to_exitcode(code)
            break
        time.sleep(_PAUSE)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if ending is LATE:
        os.waitpid(child, 0)
    return ending, status
