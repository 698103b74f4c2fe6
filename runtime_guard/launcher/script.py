"""Runs a script or a module as Python would, in this process.

What the program can see of us is a few frames at the bottom of its stack; its tracebacks are
printed without them.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from pathlib import Path
from pkgutil import get_importer
from types import ModuleType
from typing import TYPE_CHECKING, Any

from runtime_guard.messages.tracebacks import after_our_start, print_without_our_frames

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType

CANNOT_OPEN = 2

# The interpreter has the first `__main__` under way, which must outlive the one put in its place.
_launchers: list[ModuleType] = []


@dataclass(frozen=True, slots=True)
class Script:
    """A file, a folder or a zip archive with a `__main__.py`."""

    path: str
    arguments: tuple[str, ...] = ()

    def prepare(self) -> Callable[[], object]:
        """Arrange `sys.argv`, `sys.path` and `__main__`; what is returned runs the script."""
        path = _absolute(self.path)
        sys.argv[:] = [self.path, *self.arguments]
        main = _fresh_main()
        _forget_own_folder()
        if get_importer(path) is not None:
            sys.path.insert(0, path)
            return lambda: _run_module("__main__", alter_argv=False)
        if not _is_safe_path():
            sys.path.insert(0, _folder_of(path))
        return lambda: _run_file(path, main)


@dataclass(frozen=True, slots=True)
class Module:
    """What `python -m` runs."""

    name: str
    arguments: tuple[str, ...] = ()

    def prepare(self) -> Callable[[], object]:
        """Arrange `sys.argv`, `sys.path` and `__main__`; what is returned runs the module."""
        sys.argv[:] = ["-m", *self.arguments]
        _fresh_main()
        _forget_own_folder()
        if not _is_safe_path():
            sys.path.insert(0, str(Path.cwd()))
        return lambda: _run_module(self.name, alter_argv=True)


def run(program: Script | Module, notice: Callable[[BaseException | None], None]) -> None:
    """Run a program; what it raises goes on to the interpreter, which ends as it would have.

    Args:
        program: what to run.
        notice: called before anything is printed, with None where the main program came to its
            end, else with what it raised.
    """
    start = program.prepare()
    try:
        start()
    except BaseException as error:
        error.__traceback__ = after_our_start(error.__traceback__)
        notice(error)
        if not isinstance(error, SystemExit):
            print_without_our_frames()
        raise
    notice(None)


def exit_status(error: BaseException | None) -> int:
    """The status with which Python ends for what the main program raised."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        code = error.code
        return code & 0xFF if isinstance(code, int) else int(code is not None)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def _absolute(path: str) -> str:
    """As Python makes the path of the main script absolute: `./` and `..` stay in it."""
    if path == "." and sys.version_info >= (3, 11):
        return str(Path.cwd())
    if os.name == "nt":
        return os.path.abspath(path)
    return path if path.startswith("/") else f"{Path.cwd()}/{path}"


def _folder_of(path: str) -> str:
    """The entry of `sys.path` for a script: the folder of the file that a link leads to."""
    file = Path(path)
    if file.is_symlink():
        file = file.parent / file.readlink()
    return str(file.parent.resolve())


def _is_safe_path() -> bool:
    flags: Any = sys.flags
    return bool(sys.flags.isolated or getattr(flags, "safe_path", False))


def _forget_own_folder() -> None:
    """Take out what the interpreter put in front of `sys.path` for the sake of our own start."""
    if not _is_safe_path():
        del sys.path[0]


def _fresh_main() -> ModuleType:
    """Put a new `__main__` into `sys.modules`, with what every `__main__` has at the start."""
    started = sys.modules["__main__"]
    _launchers.append(started)
    main = ModuleType("__main__")
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


def _run_file(path: str, main: ModuleType) -> None:
    code = _code_of(path)
    kind = SourcelessFileLoader if path.endswith(".pyc") else SourceFileLoader
    main.__loader__ = kind("__main__", path)
    main.__file__ = path
    main.__dict__["__cached__"] = None
    exec(code, main.__dict__)


def _code_of(path: str) -> CodeType:
    if path.endswith(".pyc"):
        code = SourcelessFileLoader("__main__", path).get_code("__main__")
        assert code is not None
        return code
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        _say(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}")
        raise SystemExit(CANNOT_OPEN) from None
    _refuse_null_bytes(source, path)
    return compile(source, path, "exec", dont_inherit=True)


def _refuse_null_bytes(source: bytes, path: str) -> None:
    """As Python refuses a file: what compile says of one names neither file nor line."""
    before, null, _ = source.partition(b"\0")
    if null:
        *_, last = before.split(b"\n")
        place = (path, before.count(b"\n") + 1, 0, last.decode("utf-8", errors="replace"))
        raise SyntaxError("source code cannot contain null bytes", place)


def _say(message: str) -> None:
    """Print a message of the interpreter, which begins with its name as it was called."""
    sys.stderr.write(f"{sys.orig_argv[0]}: {message}\n")


def _run_module(name: str, *, alter_argv: bool) -> None:
    # What the interpreter itself calls for `-m`, for a folder and for an archive: the frames of
    # runpy in the program's tracebacks are those that Python shows.
    import runpy

    runner: Any = runpy
    runner._run_module_as_main(name, alter_argv)


def arguments_of(words: Sequence[str]) -> Script | Module:
    """The program that the rest of a command line names; `words` is not empty."""
    first, *rest = words
    if not first.startswith("-m"):
        return Script(first, tuple(rest))
    name, rest = (first[2:], rest) if first != "-m" else (rest[0], rest[1:])
    return Module(name, tuple(rest))
