"""What tests of plugins share that run pytest inside of pytest."""

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard.integrations import pytest_plugin
from runtime_guard.settings import Settings


@pytest.fixture(scope="module")
def what_inner_runs_import():
    """pytester forgets what an inner run was first to import, and torch bears no second import."""
    with pytest.raises(RuntimeError, match="mat1"), runtime_guard.virtual_gpu(2):
        nn.Linear(4, 2).cuda()(torch.ones(3, 4))
    with pytest_plugin.Watch("warn", Settings()):
        pass
