"""The server: which tools there are, and what it says of arguments that make no sense."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from devicelint import __version__
from devicelint.cli.mcp import tools
from devicelint.cli.mcp.answering import failure
from devicelint.output.visible import printable
from devicelint.text.selectors import hint

INSTRUCTIONS = """\
devicelint finds PyTorch device mistakes without running the code. Call check after you write or \
change a training script. Call fix to see a diff of the safe fixes, and again with write=true to \
make them. Call why with FILE:LINE to see how values came to their devices, and explain with the \
code of a rule. adopt makes a script train on whatever device the machine has."""

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


class AgentServer(MCPServer[Any]):
    """The tools of devicelint, for one client."""

    def __init__(self) -> None:
        """Register the tools; what goes wrong in one is its answer, and no entry in a log."""
        super().__init__(
            "devicelint", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR"
        )
        for read in (tools.check, tools.why, tools.explain):
            self.add_tool(read, annotations=_READS)
        for write in (tools.fix, tools.adopt):
            self.add_tool(write, annotations=_WRITES)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; what is wrong with its name or arguments is said in one line."""
        for tool in await self.list_tools():
            known = tool.input_schema["properties"]
            for unknown in arguments.keys() - known.keys() if tool.name == name else ():
                return failure(
                    printable(f'{name} has no argument "{unknown}"') + hint(unknown, known)
                )
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            return failure(printable(_complaint(name, error)))


def _complaint(name: str, error: ToolError) -> str:
    if not isinstance(error.__cause__, ValidationError):
        return str(error)
    wrong = (
        f"{'.'.join(map(str, one['loc']))}: {one['msg'].removeprefix('Value error, ')}"
        for one in error.__cause__.errors()
    )
    return f"{name}: {'; '.join(wrong)}"
