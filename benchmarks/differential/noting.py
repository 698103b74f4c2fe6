"""What a program leaves while it runs, and how it is executed."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from types import ModuleType, TracebackType
from typing import Any
from unittest.mock import patch

import torch

from benchmarks.checking import TookTooLong, limited
from benchmarks.differential.origins import Origins
from benchmarks.differential.regions import Watched
from runtime_guard.messages.explain import is_device_error

LIMIT = 20
"""In seconds: a program that takes longer on one machine has not run through."""


@dataclass
class Notes:
    """What a program leaves while it runs."""

    file: str
    reached: set[int] = field(default_factory=set)
    caught: set[int] = field(default_factory=set)
    tested: set[tuple[int, bool]] = field(default_factory=set)
    namespaces: list[argparse.Namespace] = field(default_factory=list)
    losses: list[bytes] = field(default_factory=list)
    error: BaseException | None = None

    def catch(self) -> None:
        """Called where the program has caught something."""
        error = sys.exc_info()[1]
        if error is not None and is_device_error(error):
            self.caught.update(lines_of(error.__traceback__, self.file))

    def test(self, number: int, value: object) -> bool:
        """Called with the value of a condition; its truth."""
        truth = bool(value)
        self.tested.add((number, truth))
        return truth

    def conditions(self, code: Watched) -> dict[str, frozenset[bool]]:
        """What each condition came to; what is written in several places, in all of them."""
        found: dict[str, frozenset[bool]] = {}
        for number, truth in self.tested:
            text = code.conditions[number]
            found[text] = found.get(text, frozenset()) | {truth}
        return found

    @property
    def flags(self) -> dict[str, object]:
        """What argparse gave, and the program has made of it."""
        return {name: value for each in self.namespaces for name, value in vars(each).items()}

    @contextmanager
    def of_flags(self) -> Iterator[None]:
        """Keep what argparse gives to the program."""
        parse = argparse.ArgumentParser.parse_known_args

        def parsed(parser: argparse.ArgumentParser, *given: Any, **named: Any) -> Any:
            found = parse(parser, *given, **named)
            self.namespaces.append(found[0])
            return found

        parser: Any = argparse.ArgumentParser
        parser.parse_known_args = parsed
        try:
            yield
        finally:
            parser.parse_known_args = parse

    @contextmanager
    def of_losses(self) -> Iterator[None]:
        """Keep, to the bit, each tensor of the CPU from which the program goes back."""
        backward = torch.Tensor.backward

        def noted(loss: torch.Tensor, *given: Any, **named: Any) -> None:
            if not loss.is_cuda:
                self.losses.append(loss.detach().numpy().tobytes())
            backward(loss, *given, **named)

        with patch.object(torch.Tensor, "backward", noted):
            yield


class _Nobody(io.TextIOBase):
    """Nobody reads what a program prints."""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        return len(text)


def raised(code: Watched, main: ModuleType, origins: Origins | None) -> BaseException | None:
    """Execute a program; what it raised, if anything."""
    try:
        with ExitStack() as stack:
            stack.enter_context(redirect_stdout(_Nobody()))
            stack.enter_context(redirect_stderr(_Nobody()))
            stack.enter_context(limited(LIMIT))
            if origins is not None:
                stack.enter_context(origins)
            exec(code.code, vars(main))
    except SystemExit as end:
        return end if end.code else None
    except (Exception, TookTooLong) as error:  # noqa: BLE001 - whatever it is, it is told
        return error
    return None


def lines_of(traceback: TracebackType | None, file: str) -> list[int]:
    """The lines of a file in a traceback, the innermost last."""
    lines = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            lines.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    return lines
