"""What an editor may send to a language server, and what only a broken one sends."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.fuzz.accidents import mutated
from benchmarks.fuzz.documents import disturbed
from benchmarks.fuzz.programs import script

Message = dict[str, Any]

_ASKED = ("hover", "definition", "inlayHint", "codeAction", "diagnostic")
_TOLD = ("didChange", "didChange", "didSave", "didClose", "didOpen")
_METHODS = (
    "textDocument/nothing", "$/nothing", "$/setTrace", "initialize", "initialized",
    "workspace/symbol", "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles",
    "", "workspace/executeCommand", "$/cancelRequest", "notebookDocument/didOpen",
    "window/workDoneProgress/cancel",
)  # fmt: skip


class Talk:
    """The messages of one case: about one file, and one notebook."""

    def __init__(self, rng: random.Random, scripts: Sequence[bytes], number: int) -> None:
        """Begin a talk that differs from all others by its number."""
        self.rng = rng
        self.scripts = scripts
        self.number = number
        ending = rng.choice(("py", "py", "py", "md", "pyi", "txt", "toml"))
        self.uri = f"file:///case/{number}.{ending}"
        self.notebook = f"file:///case/{number}.ipynb"

    def sound(self) -> Iterator[Message]:
        """What any editor may send, whatever is in its files."""
        yield self._opened()
        for _ in range(self.rng.randrange(1, 5)):
            yield self._asked(self.uri) if self.rng.random() < 0.6 else self._told()
        if self.rng.random() < 0.3:
            yield from self._about_notebook()

    def broken(self) -> Iterator[Message]:
        """Messages with something in them that does not belong there."""
        for message in self.sound():
            if self.rng.random() < 0.6:
                yield message
            elif self.rng.random() < 0.3:
                yield {**message, "method": self.rng.choice(_METHODS)}
            else:
                yield {**message, "params": disturbed(self.rng, message["params"])}

    def garbled(self) -> Iterator[bytes]:
        """Bodies that are no JSON, or no message."""
        for message in self.broken():
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            yield mutated(self.rng, body) if self.rng.random() < 0.5 else body

    def _text(self) -> str:
        return script(self.rng, self.scripts).decode("utf-8", "replace")

    def _opened(self) -> Message:
        language = self.rng.choice(("python", "python", "python", "markdown", "toml"))
        text = {"uri": self.uri, "languageId": language, "version": 1, "text": self._text()}
        return {"method": "textDocument/didOpen", "params": {"textDocument": text}}

    def _asked(self, uri: str) -> Message:
        """A request; the one who sends it gives it a number."""
        method = self.rng.choice(_ASKED)
        params: Message = {"textDocument": {"uri": uri}, "position": self._position()}
        params |= {"range": self._range(), "context": {"diagnostics": []}}
        return {"method": f"textDocument/{method}", "params": params, "id": None}

    def _told(self) -> Message:
        method = self.rng.choice(_TOLD)
        if method == "didOpen":
            return self._opened()
        document: Message = {"uri": self.uri, "version": self.rng.randrange(9)}
        params: Message = {"textDocument": document}
        if method == "didChange":
            params["contentChanges"] = [self._change() for _ in range(self.rng.randrange(4))]
        return {"method": f"textDocument/{method}", "params": params}

    def _change(self) -> Message:
        text = (
            self._text()
            if self.rng.random() < 0.3
            else self.rng.choice(("", "x", "\n", "(", "é\r\n"))
        )
        return {"text": text} if self.rng.random() < 0.3 else {"text": text, "range": self._range()}

    def _position(self) -> Message:
        def place(most: int) -> int:
            return self.rng.choice(
                (0, self.rng.randrange(most), self.rng.randrange(most), 2**31 - 1)
            )

        return {"line": place(30), "character": place(60)}

    def _range(self) -> Message:
        return {"start": self._position(), "end": self._position()}

    def _about_notebook(self) -> Iterator[Message]:
        uris = [f"{self.notebook}#{n}" for n in range(self.rng.randrange(4))]
        cells = [{"kind": self.rng.choice((1, 2)), "document": uri} for uri in uris]
        texts = [
            {"uri": uri, "languageId": "python", "version": 1, "text": self._text()} for uri in uris
        ]
        document: Message = {"uri": self.notebook, "notebookType": "jupyter-notebook", "version": 1}
        opened = {"notebookDocument": {**document, "cells": cells}, "cellTextDocuments": texts}
        yield {"method": "notebookDocument/didOpen", "params": opened}
        for uri in uris[:2]:
            yield self._asked(uri)
        change: Message = {"cells": {"structure": {"array": self._moved(cells)}}}
        if uris and self.rng.random() < 0.5:
            text = {"document": {"uri": uris[0], "version": 2}, "changes": [self._change()]}
            change = {"cells": {"textContent": [text]}}
        changed = {"notebookDocument": {"uri": self.notebook, "version": 2}, "change": change}
        yield {"method": "notebookDocument/didChange", "params": changed}
        closed = {"notebookDocument": {"uri": self.notebook}, "cellTextDocuments": []}
        yield {"method": "notebookDocument/didClose", "params": closed}

    def _moved(self, cells: list[Message]) -> Message:
        start = self.rng.randrange(len(cells) + 1)
        return {"start": start, "deleteCount": len(cells) - start, "cells": cells[:1]}
