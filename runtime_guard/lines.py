"""Files and lines of a running program: whose they are, and how a message names them."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_guard.mismatch import Line

if TYPE_CHECKING:
    from types import CodeType, FrameType

_GUARD = str(Path(__file__).parent)
_STANDARD_LIBRARY = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
# Code that no file holds: Python's own, and what torch.fx and torch.compile make.
_GENERATED = ("<frozen ", "<eval_with_key")
_INDUCTOR = "torchinductor_"


def line_at(frame: FrameType, line: int) -> Line:
    """A line of the code that a frame runs, with its text where the source can be read."""
    code = frame.f_code
    linecache.checkcache(code.co_filename)
    text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
    return Line(short_path(code.co_filename), line, name_of(code), text)


def name_of(code: CodeType) -> str:
    """A function's name, with that of its class: `Net.forward`; before Python 3.11 without."""
    qualified: str = getattr(code, "co_qualname", code.co_name)
    return qualified.rpartition("<locals>.")[2]


def source_above(frame: FrameType, line: int) -> list[Line]:
    """The lines of a function from this one upwards to its first."""
    code = frame.f_code
    linecache.checkcache(code.co_filename)
    texts = linecache.getlines(code.co_filename, frame.f_globals)[code.co_firstlineno - 1 : line]
    function, file = name_of(code), short_path(code.co_filename)
    numbered = enumerate(texts, code.co_firstlineno)
    return [Line(file, number, function, text.strip()) for number, text in numbered][::-1]


def short_path(file: str) -> str:
    """A file's path from the current folder where it lies below it; a notebook's cell by name."""
    cell = _cell_of(file)
    if cell or file.startswith("<"):
        return cell or file
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (ValueError, OSError):  # Elsewhere, or the current folder is gone.
        return file


def _cell_of(file: str) -> str:
    """`Cell In[3]`, as IPython's own tracebacks call a cell; empty for any other file."""
    compiler = getattr(interactive_shell(), "compile", None)
    named = getattr(compiler, "format_code_name", None)
    name = named(file) if named else None
    return " ".join(name) if name else ""


def interactive_shell() -> Any:
    """The shell of a notebook or of IPython; None elsewhere."""
    interactive = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return interactive() if interactive is not None else None


def is_plumbing(file: str) -> bool:
    """Whether a file only stands between callers and what they call: torch, Python, this guard."""
    return (
        is_torch(file)
        or _is_below(file, _GUARD)
        or (_is_below(file, *_STANDARD_LIBRARY) and not _is_installed(file))
        or file.startswith(_GENERATED)
        or _INDUCTOR in file
    )


def is_torch(file: str) -> bool:
    """Whether this is torch's own file."""
    home = getattr(sys.modules.get("torch"), "__file__", None)
    return home is not None and _is_below(file, str(Path(home).parent))


def is_internal(file: str) -> bool:
    """Whether a file of torch's is none that its users call: `torch/_refs/`, `torch/_ops.py`."""
    return f"{os.sep}torch{os.sep}_" in file


def is_library(file: str) -> bool:
    """Whether a file belongs to Python or to an installed package, and not to the user."""
    return _is_installed(file) or _is_below(file, *_STANDARD_LIBRARY)


def is_users(file: str) -> bool:
    """Whether a file is the user's own: neither installed nor in between."""
    return not (is_plumbing(file) or is_library(file))


def package_of(file: str) -> str:
    """The name of the installed package that a file belongs to; empty for any other file."""
    for folder in _INSTALLED:
        _, found, inside = file.rpartition(folder)
        if found:
            return inside.partition(os.sep)[0].removesuffix(".py")
    return ""


def _is_installed(file: str) -> bool:
    return any(folder in file for folder in _INSTALLED)


def _is_below(file: str, *folders: str) -> bool:
    return any(file.startswith(folder + os.sep) for folder in folders)
