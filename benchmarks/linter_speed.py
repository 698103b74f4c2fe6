"""How the time and the memory of a check grow with the lines, beside those of a bare parse.

    python benchmarks/linter_speed.py FOLDER [--lines 10000 100000 1000000] [--json FILE]

The Python files below FOLDER are laid out again and again, in folders of their own, until there are
so many lines. Each time is that of a new process: one checks all of it with imports followed, the
other parses the files that the check parsed, each once. README.md says what is promised.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.checkouts import CheckoutError
from benchmarks.promised import all_kept
from devicelint.cli.run.search import python_files
from devicelint.config import Config

TIMES, MEBIBYTES = 1.8, 200
"""At most: the check's time in that of the parse, and its memory at the largest size."""

# A check that writes down what it parses: that takes less than a hundredth of its time.
RECORD = """
import hashlib, pathlib, sys
import libcst
from devicelint.cli import main
folder, spool = sys.argv[1], pathlib.Path(sys.argv[2])
parse = libcst.parse_module
def noting(text, *rest, **options):
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    (spool / hashlib.sha1(data).hexdigest()).write_bytes(data)
    return parse(text, *rest, **options)
libcst.parse_module = noting
main([folder, "--exit-zero", "--quiet", "--no-cache", "--jobs=1"])
"""

PARSE = """
import gc, pathlib, sys
import libcst
gc.disable()
for number, path in enumerate(sorted(pathlib.Path(sys.argv[1]).iterdir())):
    try:
        libcst.parse_module(path.read_bytes())
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        pass
    if number % 100 == 0:
        gc.collect()
"""


@dataclass(frozen=True)
class Cost:
    """What a process took: seconds of the processor, and mebibytes at its largest."""

    seconds: float
    mebibytes: float


@dataclass(frozen=True)
class Row:
    """One size: how much there was, and what it cost."""

    lines: int
    files: int
    copies: int
    parsed: int
    check: Cost
    parse: Cost

    @property
    def times(self) -> float:
        """The check's time in multiples of the parse's."""
        return self.check.seconds / self.parse.seconds

    def __str__(self) -> str:
        microseconds = self.check.seconds / self.lines * 1e6
        return (
            f"{self.lines:>9} {self.files:>7} {self.parsed:>7} {self.check.seconds:>9.2f} "
            f"{self.parse.seconds:>9.2f} {self.times:>6.2f} {microseconds:>9.0f} "
            f"{self.check.mebibytes:>9.0f}"
        )


HEADING = (
    f"{'lines':>9} {'files':>7} {'parsed':>7} {'check s':>9} {'parse s':>9} {'times':>6} "
    f"{'us/line':>9} {'MiB':>9}"
)


def laid_out(corpus: Path, folder: Path, lines: int) -> tuple[int, int, int]:
    """Copy the corpus until there are so many lines: how many lines, files and copies there are.

    The last copy ends with the file that reaches the number. Each file ends with a comment that no
    other copy has, so that none is parsed in the place of another.

    Raises:
        CheckoutError: there is no line to copy.
    """
    paths = [
        path
        for path in python_files([corpus], Config(respect_gitignore=False))
        if isinstance(path, Path)
    ]
    count = files = copies = 0
    while count < lines:
        before = count
        copies += 1
        for path in paths:
            data = path.read_bytes()
            target = folder / f"copy{copies}" / path.relative_to(corpus)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_marked(data, copies))
            count += data.count(b"\n")
            files += 1
            if count >= lines:
                break
        if count == before:
            raise CheckoutError(f"{corpus} holds no Python")
        # It marks the root of a project: no import leads from one copy to the next.
        (folder / f"copy{copies}" / "pyproject.toml").touch()
    return count, files, copies


def _marked(data: bytes, copy: int) -> bytes:
    """The file, and at its end a comment that tells the copies apart."""
    end = b"" if data.endswith(b"\n") or not data else b"\n"
    return data + end + f"# {copy}\n".encode()


def measured(corpus: Path, lines: int) -> Row:
    """Lay out so many lines, check them, and parse what the check has parsed."""
    with tempfile.TemporaryDirectory(prefix="linter-speed-") as temporary:
        folder, spool = Path(temporary) / "tree", Path(temporary) / "parsed"
        spool.mkdir()
        count, files, copies = laid_out(corpus, folder, lines)
        check = cost("-c", RECORD, str(folder), str(spool))
        parse = cost("-c", PARSE, str(spool))
        parsed = sum(1 for _ in spool.iterdir())
        shutil.rmtree(folder)
    return Row(count, files, copies, parsed, check, parse)


def cost(*words: str) -> Cost:
    """Run Python with these words, its output thrown away.

    Raises:
        CheckoutError: it ended by an error, and not by files that it could not read.
    """
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process.stderr as stream:
        told = stream.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2) or "Traceback (most" in told:
        raise CheckoutError(f"{' '.join(words[:2])[:60]} failed: {told[-500:]}")
    seconds = used.ru_utime + used.ru_stime
    # Linux counts kibibytes, and macOS bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return Cost(seconds, used.ru_maxrss / unit)


def promises(rows: Sequence[Row]) -> Iterator[tuple[bool, str]]:
    """Yield what is promised, and whether it holds."""
    for row in rows:
        label = f"check / parse at {row.lines} lines: {row.times:.2f}, at most {TIMES}"
        yield row.times <= TIMES, label
    largest = max(rows, key=lambda row: row.lines)
    memory = largest.check.mebibytes
    yield memory <= MEBIBYTES, f"MiB at {largest.lines} lines: {memory:.0f}, at most {MEBIBYTES}"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="real files to lay out")
    add("--lines", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="the sizes")
    add("--json", type=Path, metavar="FILE", help="write the figures to this file")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure: 0 where all promises hold, 1 where one does not, 2 where nothing can be measured."""
    options = parse_arguments(arguments)
    rows: list[Row] = []
    print(HEADING)
    try:
        for lines in options.lines:
            rows.append(measured(options.folder.resolve(), lines))
            print(rows[-1], flush=True)
    except CheckoutError as error:
        print(error, file=sys.stderr)
        return 2
    is_kept = all_kept(promises(rows))
    if options.json:
        content = json.dumps([asdict(row) for row in rows], indent=1)
        options.json.write_text(content + "\n", encoding="utf-8")
    return int(not is_kept)


if __name__ == "__main__":
    sys.exit(main())
