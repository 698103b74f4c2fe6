"""Imported by every Python process of a run: seeds, small data, short loops, and a record.

It waits for what the script imports, and changes no file of the script's.
"""

from __future__ import annotations

import os
import random

import adoption_few
from examples_waiting import wait_for

wait_for(
    {
        "torch": ("adoption_few", "adoption_old", "examples_play", "examples_record"),
        "numpy": ("examples_seeds",),
        "torchvision.datasets": ("adoption_data",),
        "torchvision.models": ("adoption_data",),
    }
)
adoption_few.install()
random.seed(int(os.environ["EXAMPLES_SEED"]))
