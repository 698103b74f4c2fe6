"""The format for `jq` and for logs: each finding as JSON, on a line of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devicelint.output import reporter
from devicelint.output.ascii_json import ascii_json
from devicelint.output.formats.json import entries

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult


class JsonLinesReporter(reporter.Reporter):
    """Each file's findings, when it is done."""

    def file(self, checked: CheckResult) -> str:
        """Return a line for every finding, with the keys of the JSON format."""
        found = entries(checked, self.context)
        return "".join(f"{ascii_json(entry, sort_keys=True)}\n" for entry in found)
