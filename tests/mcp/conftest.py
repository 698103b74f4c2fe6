"""One server for all tests that need no other: each has a folder to itself."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.agent import Agent, agent_in


@pytest.fixture(scope="session")
def agent(tmp_path_factory) -> Iterator[Agent]:
    with agent_in(tmp_path_factory.mktemp("project")) as one:
        yield one


@pytest.fixture
def folder(agent) -> Path:
    return Path(tempfile.mkdtemp(dir=agent.root))
