"""Errors about a generator of random numbers: on which device to make it, and whom to give it."""

from __future__ import annotations

import re
from itertools import takewhile

from runtime_guard.lines import is_torch
from runtime_guard.messages.frames import Step

_WANTED = re.compile(r"Expected a '?(?P<wanted>[\w:]+)'? (?:device type for )?generator")


def advice_on_generator(message: str, steps: list[Step]) -> str:
    """What to write so that a generator is where its numbers are drawn; empty if that is unknown.

    Nothing in torch.utils.data says a device: it draws on the default device.
    """
    match = _WANTED.search(message)
    if match is None:
        return ""
    wanted = match["wanted"]
    made = "torch.Generator()" if wanted == "cpu" else f'torch.Generator(device="{wanted}")'
    if not (taker := _taker(steps)):
        return f"write `{made}`: a generator has to be on the device of the tensors that it fills"
    return f"pass `generator={made}` to {taker}: the default device is {wanted}"


def _taker(steps: list[Step]) -> str:
    """What takes a generator as an argument, of what was called last; a Dataset draws by itself."""
    last = list(takewhile(lambda step: is_torch(step.file), reversed(steps)))
    called = [step.frame.f_code.co_name for step in last if _is_of_data(step)]
    if not called:
        return ""
    if "random_split" in called:
        return "random_split()"
    return "the DataLoader, or to the sampler that you give it"


def _is_of_data(step: Step) -> bool:
    return str(step.frame.f_globals.get("__name__")).startswith("torch.utils.data.")
