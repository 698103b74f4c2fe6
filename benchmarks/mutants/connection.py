"""A process that has imported what runs need, and answers requests, each in a fork of it."""

from __future__ import annotations

import json
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from benchmarks.corpora.running import Extras

CHILD = Path(__file__).parent / "child"

LONGEST = 7200.0
"""In seconds: no session lasts longer."""

START_LIMIT = 600.0

Start: TypeAlias = Callable[[Extras], str]
"""Runs the process until it ends, and says why it ended."""


class SessionError(Exception):
    """A process that could not get as far as to answer, or that ended meanwhile."""


class Connection:
    """The near end.

    Args:
        stream: what both write to and read from.
        folder: for what requests write.
    """

    def __init__(self, stream: TextIO, folder: Path) -> None:
        self.folder = folder
        self._stream = stream

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            SessionError: the process is gone.
        """
        try:
            self._stream.write(json.dumps(request) + "\n")
            self._stream.flush()
            line = self._stream.readline()
        except OSError as error:
            raise SessionError(f"the session is gone: {error}") from error
        if not line:
            raise SessionError("the session is gone")
        reply: dict[str, Any] = json.loads(line)
        return reply


@contextmanager
def connected(start: Start, variables: Mapping[str, str]) -> Iterator[Connection]:
    """A connection with a process that is started for it.

    Raises:
        SessionError: it ended before it answered, or did not answer in time.
    """
    with (
        tempfile.TemporaryDirectory(prefix="session-") as name,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        path = str(Path(name, "socket"))
        listener.bind(path)
        listener.listen(1)
        extras = Extras(path=(CHILD,), variables={"MUTANTS_SOCKET": path, **variables})
        worker = _Worker(start, extras)
        worker.start()
        try:
            with _accepted(listener, worker) as stream:
                if not stream.readline():
                    worker.join()
                    raise SessionError(worker.fault)
                yield Connection(stream, Path(name))
        finally:
            worker.join()


class _Worker(threading.Thread):
    """Waits for the process of a session."""

    def __init__(self, start: Start, extras: Extras) -> None:
        super().__init__(daemon=True)
        self._start = start
        self._extras = extras
        self.fault = "it could not be started"

    def run(self) -> None:
        self.fault = self._start(self._extras) or "it ended"


@contextmanager
def _accepted(listener: socket.socket, worker: _Worker) -> Iterator[TextIO]:
    listener.settimeout(0.5)
    waited = 0.0
    while True:
        try:
            connection, _ = listener.accept()
            break
        except TimeoutError:
            waited += 0.5
            if not worker.is_alive():
                raise SessionError(worker.fault) from None
            if waited > START_LIMIT:
                raise SessionError("it is not ready in time") from None
    connection.settimeout(None)
    # Closing both ends the process.
    with connection, connection.makefile("rw", encoding="utf-8") as stream:
        yield stream
