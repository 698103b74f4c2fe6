"""What a text that says something of devices is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

# What an explanation looks for: tensors on two devices, one that had to be on the CPU, a model that
# is to be wrapped, a generator of random numbers, or none of them.
Kind: TypeAlias = Literal["mix", "host", "model", "generator", "other"]

DEVICE = r"(?:cpu|cuda|meta|mps|xpu|hpu|npu|xla|privateuseone)(?::\d+)?"

# How the name of a tensor's type begins where it is on an accelerator: `torch.cuda.`, `CUDA`.
_KIND = r"(?:torch\.(?:cuda|mps|xpu|hpu|npu|xla|meta|privateuseone)\.|CUDA|MPS|XPU|HPU|XLA|Meta)"
ONE_KIND = rf"(?:(?P<kind>{_KIND})|(?!{_KIND}))\w[\w.]*"
# The type of a tensor on another device than the first: another dtype alone is no such thing.
ANOTHER_KIND = rf"(?(kind)(?!(?P=kind))|(?={_KIND}))\w[\w.]*"

# What torch.multiprocessing raises with the text of a child's exception.
_CARRIERS = ("ProcessRaisedException",)


@dataclass(frozen=True, slots=True)
class ErrorText:
    """One way to say that a device is wrong.

    Attributes:
        name: what it is about.
        expression: what to find anywhere in the message, which may have another one around it.
        example: such a message.
        kind: `mix` where tensors on two devices met, `host` where one had to be on the CPU,
            `model` where a wrapper refused a model, `generator` where a generator is elsewhere than
            what it fills, `other` where no tensor is in the wrong place.
        advice: what to do about it; empty where the tensors say it.
        argument: what the function calls the tensor, where it has a name for it.
        errors: the names of the exceptions that say so; their subclasses do as well.
        since: the first release of torch seen to say so.
        until: the last one.
    """

    name: str
    expression: str
    example: str
    kind: Kind = "mix"
    advice: str = ""
    argument: str = ""
    errors: tuple[str, ...] = ("RuntimeError",)
    since: str = ""
    until: str = ""

    def matches(self, error: BaseException, message: str) -> bool:
        """Whether an exception with this message says it."""
        names = {kind.__name__ for kind in type(error).__mro__}
        if names.isdisjoint(self.errors + _CARRIERS):
            return False
        return re.search(self.expression, message) is not None
