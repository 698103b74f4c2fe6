"""What the files of a project tell about their part in it, each text once."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from devicelint.text.hashing import digest
from devicelint.workspace.contents import content_of

if TYPE_CHECKING:
    from devicelint.workspace.machine_use import MachineUse
    from devicelint.workspace.summaries.summary import Leads, Summary

__all__ = ["Files", "Summaries"]

_PACKAGE = "__init__.py"
_MOST_OTHERS = 4_000
"""How many texts are remembered that a run has not met."""


class Summaries:
    """Summaries by the digests of texts, in this run and, where they are remembered, in others."""

    def __init__(self, remembered: Callable[[], dict[str, Any]] = dict) -> None:
        """Read what is `remembered`, by digest, once the first text comes."""
        self._remembered = remembered
        self._written: dict[str, Any] | None = None
        self._known: dict[str, Summary] = {}
        self._parts: dict[str, int] = {}

    def get(self, content: str) -> Summary | None:
        """What is known of a text, whose digest is `content`."""
        known = self._known.get(content)
        if known is None and (known := self._read(content)) is not None:
            self._known[content] = known
        return known

    def made(self, content: str, data: bytes) -> Summary:
        """What a text tells of which nothing is known."""
        from devicelint.workspace.summaries.summary import Summary

        known = self._known[content] = Summary.of(data)
        return known

    def new(self) -> dict[str, Any] | None:
        """All that is known of texts, as JSON writes it; None where nothing of that is new."""
        parts = {content: len(one.parts) for content, one in self._known.items()}
        if parts == self._parts:
            return None
        own = {content: one.to_data() for content, one in self._known.items()}
        others = (self._written or {}).items()
        kept = islice((one for one in others if one[0] not in own), _MOST_OTHERS)
        return {**own, **dict(kept)}

    def _read(self, content: str) -> Summary | None:
        from devicelint.workspace.summaries.summary import Summary

        if self._written is None:
            self._written = self._remembered()
        try:
            summary = Summary.from_data(self._written[content])
        except (LookupError, ValueError, TypeError):
            return None
        self._parts[content] = len(summary.parts)
        return summary


class Files:
    """The files of the disk, each as it was when it was read first, until it is forgotten."""

    def __init__(self, summaries: Summaries | None = None) -> None:
        """Read nothing yet."""
        self._summaries = Summaries() if summaries is None else summaries
        self._contents: dict[str, str] = {}
        self.has_seen_changes = False
        """Whether a file had another content when it was read again."""

    def forget(self) -> None:
        """Read everything again; what is known of texts stays."""
        self._contents.clear()
        self.has_seen_changes = False

    def content(self, path: str) -> str:
        """The digest of what is in a file; empty where it cannot be read."""
        found = self._contents.get(path)
        if found is None:
            data = content_of(path)
            found = self._contents[path] = "" if data is None else digest(data)
        return found

    def summary(self, path: str) -> Summary | None:
        """What a file tells; None where it cannot be read."""
        if path not in self._contents:
            data = content_of(path)
            content = self._contents[path] = "" if data is None else digest(data)
            if data is None:
                return None
            return self._summaries.get(content) or self._summaries.made(content, data)
        content = self._contents[path]
        if not content:
            return None
        return self._summaries.get(content) or self._of_text(path, self._read_again(path))

    def _of_text(self, path: str, data: bytes) -> Summary:
        content = self._contents[path]
        return self._summaries.get(content) or self._summaries.made(content, data)

    def use(self, path: str) -> MachineUse | None:
        """What a file does with the machine; None where it cannot be read."""
        is_package = path.rpartition(os.sep)[2] == _PACKAGE
        found: MachineUse | None = self._part(path, "package use" if is_package else "use")
        return found

    def leads(self, path: str) -> Leads:
        """What a file imports, and whether its statements do something."""
        from devicelint.workspace.summaries.summary import Leads

        summary = self.summary(path)
        if summary is None:
            return Leads()
        if summary.torch_lines >= 0 and (use := self.use(path)) is not None:
            return Leads(frozenset(use.imports), use.starts)
        leads: Leads = self._part(path, "leads")
        return leads

    def saves(self, path: str) -> bool:
        """Whether a file calls what saves tensors; tests save what they load themselves."""
        from devicelint.domain.collected import is_collected

        return not is_collected(path) and bool(self._part(path, "saves"))

    def _part(self, path: str, kind: str) -> Any:
        summary = self.summary(path)
        if summary is None or (known := summary.known(kind)) is not None:
            return None if summary is None else known
        data = self._read_again(path)
        return self._of_text(path, data).read(kind, data)

    def _read_again(self, path: str) -> bytes:
        """The text of a file that was read before: what it holds now is what counts."""
        data = content_of(path) or b""
        content = digest(data)
        if content != self._contents[path]:
            self.has_seen_changes = True
            self._contents[path] = content
        return data
