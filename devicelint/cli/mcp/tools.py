"""The tools as agents see them: a function's parameters and its docstring are what is sent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BeforeValidator, Field

from devicelint.cli.mcp import runs
from devicelint.cli.mcp.answering import answered
from devicelint.cli.mcp.asked import ToolRequest
from devicelint.cli.mcp.results import ChangeReport, CheckReport, RulePage, WhyReport


def _listed(given: object) -> object:
    """A list of one, where one word stands alone."""
    if not isinstance(given, str | list | tuple):
        raise ValueError("give a list of strings")  # noqa: TRY004 - pydantic asks for this one
    return [given] if isinstance(given, str) else given


Words = Annotated[Sequence[str], BeforeValidator(_listed)]
Paths = Annotated[Words, Field(description="Files or folders.")]
Source = Annotated[str | None, Field(description="The text of a file, in place of paths.")]
Filename = Annotated[
    str, Field(description="The name of that file: its settings and imports, .ipynb and .md.")
]
Select = Annotated[Words, Field(description="Only these rules: codes, prefixes or names.")]
Ignore = Annotated[Words, Field(description="All rules but these.")]
Certainty = Annotated[
    Literal["certain", "contract", "possible"] | None,
    Field(description="How sure a finding has to be (contract)."),
]
Write = Annotated[bool, Field(description="Change the files. Without it, only show the diff.")]

NAME = ToolRequest.filename


async def check(
    context: Context,
    *,
    paths: Paths = (),
    source: Source = None,
    filename: Filename = NAME,
    select: Select = (),
    ignore: Ignore = (),
    certainty: Certainty = None,
) -> Annotated[CallToolResult, CheckReport]:
    """Find PyTorch device mistakes in Python files, notebooks or Markdown, without running them.

    Each finding has its place, rule, message, certainty, the steps that led there, and its fix.
    """
    asked = ToolRequest(
        paths=paths,
        source=source,
        filename=filename,
        select=select,
        ignore=ignore,
        certainty=certainty,
    )
    return await answered(context, partial(runs.check, asked))


async def fix(
    context: Context,
    *,
    paths: Paths = (),
    source: Source = None,
    filename: Filename = NAME,
    select: Select = (),
    ignore: Ignore = (),
    certainty: Certainty = None,
    unsafe_fixes: Annotated[
        bool, Field(description="Also fixes that may change what the program does.")
    ] = False,
    write: Write = False,
) -> Annotated[CallToolResult, ChangeReport]:
    """Return the unified diff of the fixes, each checked again, and what is left and why."""
    asked = ToolRequest(
        paths=paths,
        source=source,
        filename=filename,
        select=select,
        ignore=ignore,
        certainty=certainty,
        unsafe_fixes=unsafe_fixes,
        write=write,
    )
    return await answered(context, partial(runs.fix, asked))


async def adopt(
    context: Context,
    *,
    paths: Paths = (),
    source: Source = None,
    filename: Filename = NAME,
    ignore: Ignore = (),
    certainty: Certainty = None,
    unsafe_fixes: Annotated[
        bool, Field(description="Also change what seems to need a GPU on purpose.")
    ] = False,
    entry: Annotated[
        str | None, Field(description="The script that is run, of a program of several files.")
    ] = None,
    write: Write = False,
) -> Annotated[CallToolResult, ChangeReport]:
    """Make scripts train on whatever device a machine has; return the diff and what is left."""
    asked = ToolRequest(
        paths=paths,
        source=source,
        filename=filename,
        ignore=ignore,
        certainty=certainty,
        unsafe_fixes=unsafe_fixes,
        write=write,
        entry=entry,
    )
    return await answered(context, partial(runs.adopt, asked))


async def why(
    context: Context,
    place: Annotated[str, Field(description="FILE:LINE; of a notebook, FILE:CELL:LINE.")],
    source: Annotated[str | None, Field(description="The text of FILE, if not as saved.")] = None,
) -> Annotated[CallToolResult, WhyReport]:
    """Say on which device each value of a line lives, and the steps that led there."""
    return await answered(context, partial(runs.why, place, source))


async def explain(
    context: Context,
    rule: Annotated[str, Field(description="A code or a name: DEV101, mixed-devices.")],
    section: Annotated[
        str | None, Field(description="Only this section: Why, Example, Fix, ….")
    ] = None,
) -> Annotated[CallToolResult, RulePage]:
    """Return the page of a rule: what it finds, why, examples, the fix, what it leaves alone."""
    return await answered(context, lambda _: runs.explain(rule, section))
