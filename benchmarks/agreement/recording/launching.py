"""Runs a script as Python runs it, but for who compiles it: `launching.py SCRIPT ARGUMENTS`."""

import builtins
import io
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType


def run() -> None:
    """Run the script that the command line names."""
    del sys.argv[0]
    path = sys.argv[0] if sys.argv[0].startswith("/") else f"{Path.cwd()}/{sys.argv[0]}"
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    main.__dict__["__cached__"] = None
    main.__file__ = path
    main.__loader__ = SourceFileLoader("__main__", path)
    sys.path[0] = str(Path(path).resolve().parent)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    _launchers.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


# The interpreter has the first `__main__` under way, which must outlive the one put in its place.
_launchers: list[ModuleType] = []

if __name__ == "__main__":
    run()
