"""Imported by every Python process of a run: seeds, small data, and a record of what is learned.

It waits for what the script imports, and changes no file of the script's.
"""

from __future__ import annotations

import os
import random

from examples_waiting import wait_for

wait_for(
    {
        "torch": ("examples_play", "examples_record"),
        "numpy": ("examples_seeds",),
        "torchvision.datasets.fakedata": ("examples_small",),
        "torchvision.models.vgg": ("examples_small",),
    }
)
random.seed(int(os.environ["EXAMPLES_SEED"]))
