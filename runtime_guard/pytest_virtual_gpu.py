"""The other half of the plugin of pytest: what `--virtual-gpu` brings."""

from runtime_guard.integrations.pytest_virtual_gpu import (
    pytest_addoption,
    pytest_configure,
    pytest_load_initial_conftests,
    virtual_gpu_of_a_test,
)

__all__ = [
    "pytest_addoption",
    "pytest_configure",
    "pytest_load_initial_conftests",
    "virtual_gpu_of_a_test",
]
