"""A script's text, and the way back to its bytes."""

from __future__ import annotations

import io
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


class SourceError(Exception):
    """A script cannot be read, or is no Python program; the message says why, in one line."""


@dataclass(frozen=True)
class ScriptSource:
    """What a script says, in its encoding.

    Attributes:
        path: the file, as it was named.
        data: its bytes.
    """

    path: str
    data: bytes

    @classmethod
    def read(cls, path: str, name: str = "") -> ScriptSource:
        """Read a file, and check that Python can.

        Args:
            path: the file.
            name: what it is called in messages and results, if not by its path.

        Raises:
            SourceError: it cannot be read, or is no Python program.
        """
        try:
            source = cls(name or path, Path(path).read_bytes())
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror or error}") from None
        source.check()
        return source

    def check(self) -> None:
        """Find out whether this is a Python program.

        Raises:
            SourceError: it is none.
        """
        try:
            # What Python warns of, it says when the script runs.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(self.data, self.path, "exec", dont_inherit=True)
        except SyntaxError as error:
            place = f"{self.path}:{error.lineno}" if error.lineno else self.path
            raise SourceError(f"{place}: {error.msg}") from None
        except ValueError as error:
            raise SourceError(f"{self.path}: {error}") from None

    @cached_property
    def encoding(self) -> str:
        """What the bytes are encoded in: as they say themselves, or else UTF-8."""
        return tokenize.detect_encoding(io.BytesIO(self.data).readline)[0]

    @cached_property
    def text(self) -> str:
        """What the bytes say; line ends are as they are."""
        return self.data.decode(self.encoding)

    def encoded(self, text: str) -> bytes:
        """The bytes of another text of this script."""
        return text.encode(self.encoding)
