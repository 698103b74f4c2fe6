"""Random numbers of virtual devices, drawn so that a program gets those that it gets on the CPU.

A program whose random numbers are all drawn on the CPU, as on a machine without a GPU, and the same
program on a virtual GPU must get the same losses from the same seed. So a device's default
generator *follows* that of the CPU: it draws from the same stream, and its state is that stream's.

Seeding a device alone (`torch.cuda.manual_seed(3)`) does nothing where there is no GPU, so here it
must leave the CPU's stream as it is. But on CUDA it lets the device draw the same numbers
again. Both hold with one rule: a seed stands for the state that the stream had when the device was
first given this seed. The first time, nothing changes but that this state is kept. When it is given
again, the device *goes apart*: it draws from a stream of its own, which begins at that state.
`torch.manual_seed` seeds every device, and all of them follow the CPU's generator again.

A generator that a program makes itself (`torch.Generator("cuda")`) has a stream of its own from the
beginning. Every stream is the CPU's algorithm, so its numbers are not those of a real GPU, and a
state has the CPU's length.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import Machine, is_active, machine
from runtime_guard.virtual.namespaces.generators import Generator, VirtualGenerator, host_state
from runtime_guard.virtual.namespaces.native import stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runtime_guard.virtual.patching import Patches

HOST: Final = torch.default_generator
"""The CPU's default generator."""

_lock = threading.RLock()


class DefaultGenerator(VirtualGenerator):
    """A device's default generator.

    Attributes:
        follows: whether it draws from the CPU's stream.
        is_drawing: whether its own stream is in the place of the CPU's.
    """

    is_drawing = False

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self.follow(HOST.initial_seed())
        self._states: dict[int, Tensor] = {}

    @property
    def stream(self) -> torch._C.Generator:
        """What torch's own code draws from for it."""
        return HOST if self.follows else self

    def follow(self, seed: int) -> None:
        """Draw from the CPU's stream, which has just been given this seed."""
        self.follows = True
        self._seed = seed
        self._states = {seed: HOST.get_state()}
        self._is_fresh = True

    def drawn(self) -> None:
        """Take note that the device has drawn since it was last seeded."""
        self._is_fresh = False

    def manual_seed(self, seed: int) -> DefaultGenerator:
        """Draw what was drawn after this seed was first given."""
        seed = int(seed) % 2**64
        with _lock:
            now = self.get_state()
            known = self._states.get(seed)
            if self.follows and (known is None or (seed == self._seed and self._is_fresh)):
                self._states[seed] = now
            elif known is None:
                super().manual_seed(seed)
                self._states[seed] = super().get_state()
            elif not torch.equal(known, now):
                self._go_apart(known)
            self._seed = seed
            self._is_fresh = False
        return self

    def seed(self) -> int:
        """Draw from a stream of its own, begun anywhere."""
        self._seed = super().seed()
        self.follows = False
        return self._seed

    def initial_seed(self) -> int:
        """The seed that it was last given."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state of the stream that it draws from."""
        state: Tensor = HOST.get_state() if self.follows else super().get_state()
        return state

    def set_state(self, new_state: Any) -> DefaultGenerator:
        """Go on from a state: with the CPU's stream, where that is its state now."""
        state = host_state(new_state)
        self.follows = torch.equal(state, HOST.get_state())
        if not self.follows:
            self._go_apart(state)
        return self

    def meet(self) -> None:
        """Follow the CPU's stream if that has come to the state of this one's own."""
        self.follows = self.follows or torch.equal(super().get_state(), HOST.get_state())

    def swap(self) -> None:
        """Let the CPU's stream and this one's own change places."""
        theirs = HOST.get_state()
        HOST.set_state(super().get_state())
        super().set_state(theirs)

    def _go_apart(self, state: Tensor) -> None:
        super().set_state(state)
        self.follows = False


class _Host:
    """The CPU's default generator, as `torch.random` finds it: devices hear what is done to it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(HOST, name)

    def manual_seed(self, seed: int) -> torch._C.Generator:
        """Seed it; every device follows."""
        HOST.manual_seed(seed)
        _follow_all()
        return HOST

    def seed(self) -> int:
        """Seed it with anything; every device follows."""
        seed: int = HOST.seed()
        _follow_all()
        return seed

    def set_state(self, state: Any) -> torch._C.Generator:
        """Set its state; a device that has the same follows."""
        HOST.set_state(host_state(state))
        for generator in defaults():
            generator.meet()
        return HOST


class Defaults:
    """The default generators of a kind of device, as many as the machine in effect has."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __len__(self) -> int:
        return len(defaults()) if is_active() and machine().name == self._name else 0

    def __getitem__(self, index: int) -> DefaultGenerator:
        return (defaults() if len(self) else ())[index]

    def __iter__(self) -> Iterator[DefaultGenerator]:
        return iter(defaults() if len(self) else ())


_defaults: WeakKeyDictionary[Machine, tuple[DefaultGenerator, ...]] = WeakKeyDictionary()


def install(patches: Patches) -> None:
    """Let generators of the machine's devices be made, seeded and found."""
    patches.put(torch, "Generator", Generator)
    patches.put(torch.random, "default_generator", _Host())
    patches.put(torch.cuda, "default_generators", Defaults("cuda"))
    patches.put(torch.xpu, "default_generators", Defaults("xpu"))
    patches.put(torch.mps, "_default_mps_generator", None)
    stand_in(patches, torch.mps, "_get_default_mps_generator", "mps", lambda: defaults()[0])


def defaults() -> tuple[DefaultGenerator, ...]:
    """The default generators of the machine in effect, by index."""
    here = machine()
    with _lock:
        if here not in _defaults:
            _defaults[here] = tuple(DefaultGenerator(device) for device in here.devices)
        return _defaults[here]


@contextmanager
def drawing(device: torch.device) -> Iterator[None]:
    """Let what runs inside draw from the device's own stream, in the place of the CPU's."""
    own = defaults()[device.index]
    with _lock:
        if own.is_drawing:
            yield
            return
        own.swap()
        own.is_drawing = True
        try:
            yield
        finally:
            own.is_drawing = False
            own.swap()


def _follow_all() -> None:
    for generator in defaults():
        generator.follow(HOST.initial_seed())
