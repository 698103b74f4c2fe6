"""What users read when something is on the wrong device: what, since which line, what to write."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from runtime_guard.mismatch import Line, Mismatch

WIDTH = 100
MOST = 8
"""So many mismatches are reported; the rest are counted."""

_LABEL = 14
# `parameter 'bias'`, where it is a tensor of the module's own.
_ANNOUNCED = re.compile(r"(?:argument|attribute|buffer|parameter|variable) ['`](.+)['`]")
# Stands for a space at which no line may end; it occurs in no message.
_FIXED_SPACE = "\x00"


HEAD = "runtime_guard: "
"""How every note on an error of torch's begins."""


def render(mismatches: Sequence[Mismatch], head: str = "") -> str:
    """Say what is wrong, where it failed, where the model was entered, and what to write there.

    Plain text of several lines, the first of which can stand alone:

        features.0 (Conv2d) has parameter 'weight' on cuda:0, but argument 'input' is on cpu
          input:      float32[64, 1, 8, 8] on cpu
          failed at:  net.py:26: x = self.features(x)
          entered at: train.py:52: outputs = model(inputs)
          to fix it:  write `inputs = inputs.to(device)` before train.py:52

    Args:
        mismatches: what to report.
        head: what the first line begins with.
    """
    shown = mismatches[:MOST]
    groups = [list(group) for _, group in groupby(shown, _occasion)]
    blocks = ["\n".join(_block(group, "" if at else head)) for at, group in enumerate(groups)]
    if len(mismatches) > len(shown):
        blocks.append(f"and {len(mismatches) - len(shown)} more")
    return "\n".join(blocks)


def _occasion(mismatch: Mismatch) -> tuple[object, ...]:
    """What the mismatches of one call have in common."""
    lines = (mismatch.failed_at, mismatch.entered_at, mismatch.launched_at)
    return mismatch.name, mismatch.expected, mismatch.anchor, *lines, mismatch.rank


def _block(mismatches: list[Mismatch], head: str) -> Iterator[str]:
    first = mismatches[0]
    yield from headline(head + _headline(mismatches))
    for mismatch in mismatches:
        yield from row(path_in(mismatch.argument), str(mismatch.tensor))
    yield from places(first.failed_at, first.entered_at, first.launched_at)
    for advice in dict.fromkeys(mismatch.advice for mismatch in mismatches if mismatch.advice):
        yield from row("to fix it", advice)


def headline(text: str) -> Iterator[str]:
    """The lines of what a message says first."""
    yield from _wrapped(text, WIDTH, indent="  ")


def _headline(mismatches: list[Mismatch]) -> str:
    first = mismatches[0]
    devices = ", ".join(dict.fromkeys(mismatch.tensor.device for mismatch in mismatches))
    if len(mismatches) == 1:
        wrong = f"{spoken(first.argument)} is on {devices}"
    else:
        kinds = {spoken(mismatch.argument).partition(" ")[0] for mismatch in mismatches}
        kind = "arguments" if kinds == {"argument"} else "tensors"
        wrong = f"{len(mismatches)} of its {kind} are on {devices}"
    rank = f"[{first.rank}] " if first.rank else ""
    return f"{rank}{first.name} has {first.anchor} on {first.expected}, but {wrong}"


def spoken(argument: str) -> str:
    """What a mismatch calls its tensor, with its kind: an argument, if it names no other."""
    if _ANNOUNCED.fullmatch(argument):
        return argument
    # A path may have quotes of its own.
    return f"argument '{argument}'" if argument.isidentifier() else f"argument `{argument}`"


def path_in(argument: str) -> str:
    """What a message calls a tensor, without its kind: `bias` of `parameter 'bias'`."""
    announced = _ANNOUNCED.fullmatch(argument)
    return announced[1] if announced else argument


def places(failed: Line | None, entered: Line | None, launched: Line | None) -> Iterator[str]:
    """Where it failed, where the model was entered and who started that, each line once."""
    if failed is not None:
        yield from place("failed at", failed)
    if entered is not None and not _is_same(entered, failed):
        yield from place("entered at", entered)
    if launched is not None:
        yield from place("started at", launched)


def _is_same(line: Line, other: Line | None) -> bool:
    return other is not None and (line.file, line.line) == (other.file, other.line)


def place(label: str, line: Line) -> Iterator[str]:
    """A line of the program: its text follows, cut if need be, or stands below a long path."""
    where = line.place
    if not line.text:
        yield from row(label, where)
        return
    room = WIDTH - _LABEL - len(where) - 2
    if room >= min(len(line.text), 40):
        yield from row(label, f"{where}: {_cut(line.text, room)}", wrap=False)
    else:
        yield from row(label, f"{where}:", wrap=False)
        yield " " * _LABEL + _cut(line.text, WIDTH - _LABEL)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"


def row(label: str, text: str, *, wrap: bool = True) -> Iterator[str]:
    """A labelled line of a message, and those it runs on into."""
    head = f"  {label}:".ljust(_LABEL - 1) + " "
    lines = _wrapped(text, max(WIDTH - len(head), WIDTH // 2)) if wrap else [text]
    yield head + lines[0]
    for line in lines[1:]:
        yield " " * _LABEL + line


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The lines of a sentence; code in backticks stays in one piece."""
    parts = text.split("`")
    parts[1::2] = [part.replace(" ", _FIXED_SPACE) for part in parts[1::2]]
    lines = textwrap.wrap(
        "`".join(parts),
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_FIXED_SPACE, " ") for line in lines] or [""]
