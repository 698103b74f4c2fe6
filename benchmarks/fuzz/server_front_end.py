"""The language server, over its standard streams, as an editor that has lost its mind."""

from __future__ import annotations

import json
import queue
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TextIO

from benchmarks.fuzz.child import LONGEST, begin
from benchmarks.fuzz.messages import Message, Talk
from benchmarks.fuzz.programs import corpus

_KNOWN = "file:///case/known.py"
_ERROR = 1
"""The type of a log message that tells of an error."""


class Wire:
    """A server, and what it sends."""

    def __init__(self, folder: Path) -> None:
        """Start it, and say hello."""
        self._log = (folder / "stderr.txt").open("wb")
        command = [sys.executable, "-m", "devicelint", "server"]
        self._server = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
        )
        self._answers: queue.Queue[Message | None] = queue.Queue()
        assert self._server.stdout is not None
        threading.Thread(target=self._read, args=(self._server.stdout,), daemon=True).start()
        self._last = 0
        self.ask("initialize", {"capabilities": {}, "rootUri": folder.as_uri(), "processId": None})
        self.tell("initialized", {})
        text = {"uri": _KNOWN, "languageId": "python", "version": 1, "text": "import torch\n"}
        self.tell("textDocument/didOpen", {"textDocument": text})
        self.said: list[Message] = []

    def _read(self, stream: IO[bytes]) -> None:
        while header := stream.readline():
            if header.lower().startswith(b"content-length:"):
                size = int(header.split(b":")[1])
                while stream.readline().strip():
                    pass
                self._answers.put(json.loads(stream.read(size)))
        self._answers.put(None)

    def send(self, body: bytes) -> None:
        """Send the body of a message; raises OSError where nobody takes it."""
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._server.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def numbered(self, message: Message) -> Message:
        """A message with the next number, where it is a request."""
        if "id" not in message:
            return message
        self._last += 1
        return {**message, "id": self._last}

    def ask(self, method: str, params: Any) -> Message:
        """Send a request and return the answer; raises OSError where none comes."""
        message = self.numbered({"method": method, "params": params, "id": None})
        self.send(json.dumps({"jsonrpc": "2.0", **message}).encode())
        while True:
            try:
                answer = self._answers.get(timeout=LONGEST)
            except queue.Empty:
                raise TimeoutError(f"no answer to {method}") from None
            if answer is None:
                raise ConnectionError(f"the server left, with status {self._server.wait()}")
            if answer.get("id") == message["id"] and "method" not in answer:
                return answer
            self.said.append(answer)

    def is_alive(self) -> None:
        """Raise OSError unless the server answers still."""
        self.said = []
        place = {"textDocument": {"uri": _KNOWN}, "position": {"line": 0, "character": 0}}
        answer = self.ask("textDocument/hover", place)
        if "error" in answer:
            raise ConnectionError(f"a sound question is answered by {answer['error']}")

    def complaints(self) -> Iterator[str]:
        """Errors that the server has told of since it was last asked whether it lives."""
        for message in self.said:
            params = message.get("params") or {}
            if message.get("method") == "window/logMessage" and params.get("type") == _ERROR:
                yield str(params["message"])
            elif "error" in message:
                yield str(message["error"])

    def leave(self) -> bytes:
        """End the server, and return what it has written to its standard error."""
        self._server.kill()
        self._server.wait()
        self._log.close()
        return Path(self._log.name).read_bytes()


def try_all(first: int, end: int, folder: Path, answers: TextIO) -> None:
    """Try the inputs of these numbers, all with one server while it lives."""
    scripts = corpus()
    wire = Wire(folder)
    for number in range(first, end):
        begin(number, answers)
        rng = random.Random(f"server {number}")
        talk = Talk(rng, scripts, number)
        kind = rng.choice(("sound", "sound", "broken", "garbled"))
        try:
            found = list(_faults(wire, talk, kind))
        except OSError as error:
            told = wire.leave().decode("utf-8", "replace")[-400:]
            found, wire = [f"{kind}: {error}: {told}"], Wire(folder)
        answers.writelines(f"fault {fault[-600:]!r}\n" for fault in found)
    if b"Traceback" in (told_at_last := wire.leave()):
        answers.write(f"fault {told_at_last[-600:]!r}\n")


def _faults(wire: Wire, talk: Talk, kind: str) -> Iterator[str]:
    if kind == "garbled":
        for body in talk.garbled():
            wire.send(body)
    else:
        for message in talk.sound() if kind == "sound" else talk.broken():
            whole = {"jsonrpc": "2.0", **wire.numbered(message)}
            wire.send(json.dumps(whole).encode())
    wire.is_alive()
    for complaint in wire.complaints():
        if kind == "sound" and "MethodNotFound" not in complaint and "-32601" not in complaint:
            yield f"sound: {complaint}"
        elif "Traceback" in complaint:
            yield f"{kind}: {complaint}"
