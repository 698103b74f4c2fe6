"""How a tool is answered: one at a time, in a thread of its own, and errors in one line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ListRootsRequest, ListRootsResult, TextContent

from devicelint.cli import in_one_line
from devicelint.cli.mcp.folders import Folders
from devicelint.cli.mcp.results import Failed, ToolResult
from devicelint.cli.options.usage import UsageError
from devicelint.output.visible import printable
from devicelint.views.deep_thread import deep_thread

Work = Callable[[Folders], ToolResult]


async def answered(context: Context, work: Work) -> CallToolResult:
    """Return what the work gives, or why it gives nothing."""
    folders = Folders.of(await _roots(context))
    return await asyncio.wrap_future(_worker().submit(_attempted, work, folders))


@cache
def _worker() -> ThreadPoolExecutor:
    """The one thread: runs of devicelint share what they know of files."""
    return deep_thread()


async def _roots(context: Context) -> list[str]:
    """The folders that the client works in; none where it does not say."""
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return []
    try:
        found = await context.session.send_request(ListRootsRequest(), ListRootsResult)
    except MCPError:  # It has changed its mind, or cannot be asked while a tool is called.
        return []
    return [str(root.uri) for root in found.roots]


def _attempted(work: Work, folders: Folders) -> CallToolResult:
    try:
        answer = work(folders)
    except Failed as error:
        return failure(str(error))
    except UsageError as error:  # An option is called as its argument is.
        return failure(printable(str(error).removeprefix("--")))
    except OSError as error:
        return failure(printable(f"{error.filename or 'devicelint'}: {error.strerror or error}"))
    except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
        return failure(in_one_line(error))
    return CallToolResult(content=[_text(answer.text)], structured_content=answer.values)


def failure(message: str) -> CallToolResult:
    """Return an error of a tool, which the agent reads."""
    return CallToolResult(content=[_text(message)], is_error=True)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text.removesuffix("\n"))
