"""The plugin of pytest, as `-p` and the entry point name it: what `--device-guard` brings.

pytest imports this module in every run, so whatever needs torch waits until a test has imported it.
"""

from runtime_guard.integrations.pytest_plugin import (
    guards_of_a_test,
    pytest_addoption,
    pytest_configure,
)

__all__ = ["guards_of_a_test", "pytest_addoption", "pytest_configure"]

pytest_plugins = ("runtime_guard.pytest_virtual_gpu",)
