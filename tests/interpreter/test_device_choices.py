"""Which conditions leave a chosen device no choice but the CPU."""

from __future__ import annotations

import pytest

from devicelint.interpreter.facts.device_choices import may_be_accelerator


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        ('device == "cpu"', True),
        ('device != "cpu"', False),
        ('"cuda" in device', False),
        ('device.type == "cuda"', False),
        ("device is None", True),
        ("device >= 0", False),
        ("device == -1", True),
        ('device.startswith("cuda")', False),
    ],
)
def test_the_choice_is_the_cpu(condition: str, chosen: bool) -> None:
    assert not may_be_accelerator(((condition, chosen),), "device")
    assert may_be_accelerator(((condition, not chosen),), "device")


@pytest.mark.parametrize("condition", ["verbose", "other == 'cpu'", "not (", "len(device) > 3"])
def test_what_says_nothing_of_the_device(condition: str) -> None:
    assert may_be_accelerator(((condition, True),), "device")
    assert may_be_accelerator(((condition, False),), "device")
