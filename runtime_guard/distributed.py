"""Ranks: which one this is, what they send to the first one, and the moment before they part.

Nothing here starts torch.distributed or takes part in a collective: no rank waits for a dead one
longer than it says.
"""

from __future__ import annotations

import atexit
import os
import socket
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from multiprocessing.util import Finalize
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

LARGEST = 1 << 20
"""How many bytes a rank may send: all of them lie in the memory of one store."""

AFTER_FAILURE = 2.0
"""For how many seconds a rank that failed waits: the others may be waiting for it to end."""

_gatherings: Counter[int] = Counter()
_waiting: list[_LastCall] = []
_lock = threading.RLock()


def rank() -> int | None:
    """The number of this process in a distributed run; None outside one."""
    group = _initialised()
    return group.get_rank() if group else _from_environment()[0]


def world_size() -> int | None:
    """The number of processes in a distributed run; None outside one."""
    group = _initialised()
    return group.get_world_size() if group else _from_environment()[1]


def rank_and_host() -> str:
    """`rank 1 on node7`, as messages say it; empty outside a distributed run."""
    number = rank()
    return "" if number is None else f"rank {number} on {socket.gethostname()}"


def gather(payload: bytes, *, timeout: float = 10.0) -> list[bytes | None] | None:
    """Bring what every rank has to rank 0, through the store that the ranks met at.

    Every rank calls this equally often. All but rank 0 go on at once.

    Args:
        payload: what this rank sends, at most `LARGEST` bytes.
        timeout: for how many seconds rank 0 waits for all the others together.

    Returns:
        On rank 0 the payloads by rank, None for each that did not come in time. None on the
        others, and where torch.distributed is not initialised.

    Raises:
        ValueError: the payload is too large.
    """
    if len(payload) > LARGEST:
        raise ValueError(f"payload is {len(payload)} bytes: a rank may send {LARGEST}")
    distributed = _initialised()
    if distributed is None:
        return None
    own, size = distributed.get_rank(), distributed.get_world_size()
    _gatherings[own] += 1
    keys = [f"runtime_guard/{_gatherings[own]}/{each}" for each in range(size)]
    store = _store_of(distributed)
    if own == 0:
        return [payload, *_received(store, keys[1:], timeout)]
    # A store that is gone raises: whoever kept it has ended, and nobody waits for this payload.
    with suppress(RuntimeError):
        if store is not None:
            store.set(keys[own], payload)
    return None


def call_before_shutdown(callback: Callable[[], None]) -> Callable[[], None]:
    """Call `callback` once, while the ranks can still be reached.

    That is before `torch.distributed.destroy_process_group` ends the default group or at the end
    of this process, whichever comes first. A child that was forked off does not call it.

    Returns:
        What takes this back; it does nothing once the callback was called.
    """
    last = _LastCall(callback)

    def undo() -> None:
        last.cancel()

    return undo


class _LastCall:
    """A callback that waits for the end, in the process that registered it."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._process = os.getpid()
        # Processes that multiprocessing forks end without atexit (before Python 3.13).
        self._finalizer = Finalize(None, self, exitpriority=0)
        atexit.register(self)
        with _lock:
            _waiting.append(self)
            _redirect()

    def __call__(self) -> None:
        if self._process == os.getpid() and self.cancel():
            self._callback()

    def cancel(self) -> bool:
        """Stop waiting; False where the callback has been called, or called off, already."""
        with _lock:
            if self not in _waiting:
                return False
            _waiting.remove(self)
            atexit.unregister(self)
            self._finalizer.cancel()
            if _redirection is not None and not _waiting:
                _redirection.end()
            return True


def _initialised() -> ModuleType | None:
    """torch.distributed, where the program has imported and initialised it."""
    distributed = sys.modules.get("torch.distributed")
    ready = getattr(distributed, "is_initialized", None)
    return distributed if ready is not None and ready() else None


def _from_environment() -> tuple[int, int] | tuple[None, None]:
    """Rank and world size as torchrun and its like pass them on."""
    try:
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    except (KeyError, ValueError):
        return None, None


def _store_of(distributed: ModuleType) -> Any:
    """The store of the default group, for which torch has no public name; None without one."""
    internals = distributed.distributed_c10d
    named = getattr(internals, "_get_default_store", None)
    if named is not None:
        return named()
    groups = getattr(getattr(internals, "_world", None), "pg_map", {})
    return groups.get(distributed.group.WORLD, (None, None))[1]


def _received(store: Any, keys: list[str], timeout: float) -> list[bytes | None]:
    failed = getattr(sys, "last_value", None) is not None
    deadline = time.monotonic() + (min(timeout, AFTER_FAILURE) if failed else timeout)
    return [None if store is None else _awaited(store, key, deadline) for key in keys]


def _awaited(store: Any, key: str, deadline: float) -> bytes | None:
    # Not `store.wait`: it logs each time-out as a failure of the socket.
    try:
        while not store.check([key]):
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.02)
        return bytes(store.get(key))
    except RuntimeError:
        return None


class _Redirection:
    """Lets torch's function run `_destroy` first.

    Its code is exchanged, not its name: whoever has imported it by name already holds the
    function itself.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self.original = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__
        )

    def begin(self) -> None:
        self._function.__code__ = _call_destroy.__code__

    def end(self) -> None:
        self._function.__code__ = self.original.__code__


_redirection: _Redirection | None = None


def _redirect() -> None:
    global _redirection  # noqa: PLW0603
    module = sys.modules.get("torch.distributed.distributed_c10d")
    function = getattr(module, "destroy_process_group", None)
    # The code of somebody's wrapper, with variables of its own, cannot be exchanged: there the end
    # of the process alone is left.
    if (
        _redirection is None
        and isinstance(function, FunctionType)
        and not function.__code__.co_freevars
    ):
        _redirection = _Redirection(function)
    if _redirection is not None:
        _redirection.begin()


def _call_destroy(group: Any = None) -> None:
    # Runs among the names of torch's module, hence the import.
    from runtime_guard.distributed import _destroy

    _destroy(group)


def _destroy(group: Any) -> None:
    distributed = _initialised()
    try:
        if distributed is not None and (group is None or group == distributed.group.WORLD):
            for each in tuple(_waiting):
                each()
    finally:
        if _redirection is not None:
            _redirection.original(group)
