"""A thread in which deeply nested code can be parsed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

_STACK = 64 * 2**20
"""In bytes: what parses deeply nested code needs more than some systems give a thread."""


def deep_thread() -> ThreadPoolExecutor:
    """Return an executor of one thread, which does one thing after the other."""
    before = threading.stack_size(_STACK)
    executor = ThreadPoolExecutor(1, thread_name_prefix="worker")
    executor.submit(int)  # The thread is started now, with that stack.
    threading.stack_size(before)
    return executor
