"""An agent, as far as a server can tell: the client of the SDK over standard streams."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.session import ClientRequestContext
from mcp_types import CallToolResult, ListRootsResult, Root, TextContent, Tool

ROOT = Path(__file__).parents[2]


class Agent:
    """Calls the tools of a server that runs in a folder."""

    def __init__(self, portal: BlockingPortal, client: Client, root: Path) -> None:
        self._portal = portal
        self._client = client
        self.root = root

    @property
    def instructions(self) -> str:
        return self._client.instructions or ""

    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._portal.call(self._client.list_tools).tools}

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """What a tool returns."""
        return self._portal.call(partial(self._client.call_tool, tool, arguments))

    def text(self, tool: str, **arguments: Any) -> str:
        """The text of a result that is no error."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def values(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a result that is no error."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        values: dict[str, Any] | None = result.structured_content
        assert values is not None
        return values

    def error(self, tool: str, **arguments: Any) -> str:
        """The text of a result that is an error."""
        result = self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        assert result.structured_content is None
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def started(folder: Path) -> StdioServerParameters:
    """How a client starts the server."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "devicelint", "mcp"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
    )


@contextmanager
def agent_in(folder: Path, *roots: Path, mode: str = "auto") -> Iterator[Agent]:
    """Start a server in a folder; with roots, for a client that names these."""

    async def name_roots(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=root.as_uri()) for root in roots])  # type: ignore[arg-type]

    client = Client(
        stdio_client(started(folder)),
        mode=mode,
        list_roots_callback=name_roots if roots else None,
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Agent(portal, client, folder)
