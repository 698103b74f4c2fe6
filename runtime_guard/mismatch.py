"""What a guard found: plain values, free of torch, that any report can print."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source that was running."""

    file: str
    line: int
    function: str
    text: str

    @property
    def place(self) -> str:
        """Where it is, as messages say it: `train.py:52`."""
        return f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.text else self.place


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """What a message says of a tensor; `bytes` counts its elements, not its storage."""

    device: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int

    def __str__(self) -> str:
        return f"{self.dtype.removeprefix('torch.')}{list(self.shape)} on {self.device}"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One tensor that a module got on another device than its own.

    Attributes:
        module: the path from the model that was entered, as `named_modules` has it; empty for
            the model itself.
        module_class: the name of the module's class.
        argument: the argument's name and the path inside it, as Python would write it:
            `batch["mask"][0]`.
        tensor: the tensor found there.
        expected: the device it should have been on.
        anchor: what lives on the expected device: `parameter 'weight'`, `argument 'input'`.
        failed_at: the innermost line outside torch: where the module was called.
        entered_at: the line at which the model was entered, which is where a fix goes.
        launched_at: the user's own line, where `entered_at` lies in an installed library.
        advice: what to write, and where.
        rank: `rank 1 on host`, in a distributed run.
    """

    module: str
    module_class: str
    argument: str
    tensor: TensorFacts
    expected: str
    anchor: str
    failed_at: Line | None = None
    entered_at: Line | None = None
    launched_at: Line | None = None
    advice: str = ""
    rank: str = ""

    @property
    def name(self) -> str:
        """The module as messages name it: `encoder.layers.3.linear1 (Linear)`."""
        return f"{self.module} ({self.module_class})" if self.module else self.module_class

    def to_dict(self) -> dict[str, Any]:
        """The same as nested dictionaries, for JSON."""
        return asdict(self)
