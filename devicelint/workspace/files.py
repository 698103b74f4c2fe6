"""Files: how to read one, how to replace one.

Whatever the file system refuses becomes an InputError about that one file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from devicelint.finding import InputError
from devicelint.text.source import SourceFile

PASSED_OVER = frozenset(
    {
        ".bzr", ".devicelint_cache", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints",
        ".mypy_cache", ".nox", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv",
        ".vscode", "__pycache__", "__pypackages__", "_build", "build", "buck-out", "dist",
        "node_modules", "site-packages", "venv",
    }
)  # fmt: skip
"""Names of folders that hold what tools made or other people wrote."""

LARGEST_FILE = 10 * 2**20
"""In bytes: a program that people wrote is never as large."""

LARGEST_NOTEBOOK = 100 * 2**20
"""In bytes: the pictures that a notebook shows are in it."""


def read_source(path: Path) -> SourceFile:
    """Reads and decodes a file; raises InputError for what is no readable Python text."""
    return SourceFile.from_bytes(read_data(path), str(path))


def read_data(path: Path) -> bytes:
    """Reads a file; raises InputError for what cannot be a program."""
    try:
        status = path.stat()
        _refuse_what_is_not_a_source(path, status)
        return path.read_bytes()
    except OSError as error:
        raise file_problem(path, error) from None


def _refuse_what_is_not_a_source(path: Path, status: os.stat_result) -> None:
    # Before it is opened: opening a pipe waits for whoever writes to it.
    if stat.S_ISDIR(status.st_mode):
        raise _file_error(path, "is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise _file_error(path, "is not a regular file")
    largest = LARGEST_NOTEBOOK if path.suffix.lower() == ".ipynb" else LARGEST_FILE
    if status.st_size > largest:
        size, limit = (number / 2**20 for number in (status.st_size, largest))
        message = f"is too large to be a program ({size:.1f} MiB; the limit is {limit:.0f} MiB)"
        raise _file_error(path, message)


def replace_file(path: Path, data: bytes) -> None:
    """Gives a file other content, whole or not at all, and keeps its mode.

    A link stays, and what it leads to is replaced.  Raises InputError, and leaves the file as it
    was, where it or its folder is read-only, or the file system refuses.
    """
    replace_files([(path, data)])


def replace_files(contents: Sequence[tuple[Path, bytes]]) -> None:
    """Gives several files other content, all of them or none, as `replace_file` does one.

    Everything is written beside first, the old content as well, so that renames alone are left.
    Raises one InputError where any of them fails; those that were made are taken back then.
    """
    failing, written = Path(), list[_Beside]()
    try:
        for failing, data in contents:
            _refuse_what_jupyter_would(failing, data)
            written.append(_written_beside(failing, data, keeps_old=len(contents) > 1))
        with ExitStack() as undo:
            for beside in written:
                failing = beside.path
                beside.new.replace(beside.target)
                undo.callback(beside.restore)
            undo.pop_all()
    except (OSError, InputError) as error:
        raise _none_changed(failing, error, len(contents)) from None
    finally:
        for beside in written:
            beside.discard()


def _refuse_what_jupyter_would(path: Path, data: bytes) -> None:
    if path.suffix.lower() == ".ipynb":
        from devicelint.text.documents.validity import refuse_invalid

        refuse_invalid(path, data)


@dataclass(frozen=True)
class _Beside:
    """A file, and what it is to hold, or held, in files of their own in the same folder.

    A rename is atomic within a file system.
    """

    path: Path
    target: Path
    new: Path
    old: Path | None

    def restore(self) -> None:
        """Take the rename back."""
        if self.old is not None:
            self.old.replace(self.target)

    def discard(self) -> None:
        """Remove what was not renamed."""
        self.new.unlink(missing_ok=True)
        if self.old is not None:
            self.old.unlink(missing_ok=True)


def _written_beside(path: Path, data: bytes, *, keeps_old: bool) -> _Beside:
    target = Path(os.path.realpath(path))
    status = target.stat()
    _refuse_what_is_read_only(path, target, status)
    new = _temporary(target, status, data)
    try:
        old = _temporary(target, status, target.read_bytes()) if keeps_old else None
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    return _Beside(path, target, new, old)


def _none_changed(path: Path, error: OSError | InputError, count: int) -> InputError:
    problem = (
        file_problem(path, error, "cannot be written") if isinstance(error, OSError) else error
    )
    if count == 1:
        return problem
    return _file_error(path, f"{problem.message}; none of the {count} files is changed")


def _refuse_what_is_read_only(path: Path, target: Path, status: os.stat_result) -> None:
    # By the mode as well: nothing refuses root, whose read-only files are meant as such too.
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise _file_error(path, "is read-only")
    if not target.parent.stat().st_mode & 0o222 or not os.access(target.parent, os.W_OK):
        raise _file_error(path, "is in a read-only folder")


def _temporary(target: Path, status: os.stat_result, data: bytes) -> Path:
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(dir=target.parent, prefix=".devicelint-", delete=False) as beside:
        temporary = Path(beside.name)
        try:
            beside.write(data)
            beside.flush()
            os.fsync(beside.fileno())
            beside.close()
            _take_over_owner_and_mode(temporary, status)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    return temporary


def _take_over_owner_and_mode(temporary: Path, status: os.stat_result) -> None:
    made = temporary.stat()
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid) and hasattr(os, "chown"):
        # Only root gives files away; whoever else may write here becomes the owner.
        with suppress(PermissionError):
            os.chown(temporary, status.st_uid, status.st_gid)
    temporary.chmod(stat.S_IMODE(status.st_mode))


def file_problem(path: Path, error: OSError, what: str = "cannot be read") -> InputError:
    """What the file system refuses, as one line about a file."""
    if isinstance(error, FileNotFoundError):
        return _file_error(path, "no such file or directory")
    return _file_error(path, f"{what}: {error.strerror or error}")


def _file_error(path: Path, message: str) -> InputError:
    return InputError(str(path), 1, 0, message)
