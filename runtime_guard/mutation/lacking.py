"""What a script may lack that has nothing to do with devices: then nothing is proven of it."""

from __future__ import annotations

import re

from runtime_guard.mutation.plan import Failure

LACKS = {
    "the script reads data that is not here": (
        r"^(FileNotFound|NotADirectory)Error:|Dataset not found|No such file or directory"
    ),
    "the script downloads, and nothing comes": (
        r"^(URL|HTTP|Connection|SSL|Proxy|MaxRetry|LocalEntryNotFound)Error:|^gaierror:"
        r"|^(Connect|Read)Timeout:|^OfflineModeIsEnabled:|urlopen error|HTTP Error"
        r"|Max retries exceeded|Error downloading|[Cc]ouldn't connect to|name resolution"
    ),
    "the script imports what is not installed": r"^ModuleNotFoundError:",
    "the script waits for somebody to type": r"^EOFError:|^StdinNotImplementedError:",
    "the script needs arguments": r"\berror: .*\brequired",
}
"""What shows it: the error that ended a run, as `type: message`."""


def lacks(failure: Failure) -> str:
    """What the script lacks to be run at all, on one line; empty where it fails otherwise."""
    said = f"{failure.type}: {failure.message}" if failure.type else failure.message
    for lack, expression in LACKS.items():
        if re.search(expression, said):
            return f"{lack} ({failure.message})" if failure.message else lack
    return ""
