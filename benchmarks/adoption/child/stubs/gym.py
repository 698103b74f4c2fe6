"""Stands in for gym and gymnasium: short episodes in which each action is as good as the other."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import numpy as np

STEPS = 12
STATES = {"Pendulum": 3, "Acrobot": 6, "MountainCar": 2}
"""How many numbers a state has; 4, where nothing else is said."""

OLD = "ADOPTION_OLD_GYM"
"""Set where a script is of before 0.26: no information with a state, one end of an episode."""


class Space(SimpleNamespace):
    """What a state or an action is one of."""

    def sample(self) -> Any:
        """Any of them."""
        numbers = np.random.default_rng(len(self.shape))
        return int(numbers.integers(self.n)) if self.n else numbers.uniform(-1, 1, self.shape)


class Environment:
    """Episodes of `STEPS` steps."""

    spec = SimpleNamespace(reward_threshold=10.5)
    x_threshold = 2.4
    theta_threshold_radians = 0.2
    _max_episode_steps = STEPS

    def __init__(self, name: str) -> None:
        self._size = next((size for key, size in STATES.items() if name.startswith(key)), 4)
        is_graded = name.startswith(("Pendulum", "MountainCarContinuous", "Reacher"))
        self.observation_space = Space(shape=(self._size,), n=None)
        self.action_space = Space(
            shape=(1,) if is_graded else (),
            n=None if is_graded else 2,
            high=np.ones(1),
            low=-np.ones(1),
        )
        self._numbers = np.random.default_rng(0)
        self._left = STEPS
        self._is_old = OLD in os.environ

    @property
    def unwrapped(self) -> Environment:
        """Nothing is wrapped here."""
        return self

    def seed(self, seed: int) -> None:
        """Begin the same numbers anew."""
        self._numbers = np.random.default_rng(seed)

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode."""
        if seed is not None:
            self.seed(seed)
        self._left = STEPS
        return self._state() if self._is_old else (self._state(), {})

    def step(self, action: Any) -> tuple[Any, ...]:
        """Go on, the state being somewhat to the side of the action."""
        self._left -= 1
        # As with the environments themselves, an action is no tensor on another device.
        side = np.float32(np.asarray(action, dtype="float32").mean())
        ends = (self._left == 0,) if self._is_old else (self._left == 0, False)
        return self._state() + side, 1.0, *ends, {}

    def render(self, *_args: object, **_options: object) -> None:
        """Draw nothing."""

    def close(self) -> None:
        """Keep nothing open."""

    def _state(self) -> Any:
        return self._numbers.uniform(-1, 1, self._size).astype("float32")


def make(name: str, **_options: object) -> Environment:
    """Make the environment that there is, with states of another size for some names."""
    return Environment(name)
