"""How fast devicelint is, beside the bare parse, flake8, TorchFix and torch-preflight.

    python -m benchmarks.speed FOLDER [--large FOLDER...] [--repeat 5] [--environments DIR]
                               [--json FILE]

Everything is measured in one run, each tool as a new process, the repetitions of all tools
interleaved: over one corpus, and, of devicelint alone, over a tree of a thousand files that is made
of the large folders, or of copies of the corpus.  README.md beside this file says how the tools are
run, and why so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.large_tree import large_tree, python_files
from benchmarks.timed_tools import BenchmarkError, Measurement, Tool
from devicelint.linter.result import screen

DEFAULT_ENVIRONMENTS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")

PARSE = """
import sys, libcst
parsed = 0
for path in sys.stdin.read().splitlines():
    with open(path, "rb") as file:
        data = file.read()
    try:
        libcst.parse_module(data)
        parsed += 1
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        pass
print(parsed, "files parsed")
"""


@dataclass(frozen=True)
class Acceptance:
    """A promise about speed: a number that must be at most, or at least, its limit."""

    label: str
    value: float
    limit: float
    at_most: bool

    @property
    def holds(self) -> bool:
        """Whether the run kept the promise."""
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    def __str__(self) -> str:
        verdict, sign = "pass" if self.holds else "FAIL", "<=" if self.at_most else ">="
        return f"{verdict}  {self.label} {sign} {self.limit:g}: {self.value:.2f}"


def environment(folder: Path, requirement: str) -> Path:
    """The folder of programs of a virtual environment with `requirement`, made once."""
    home = folder / requirement.replace("==", "-")
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    complete = home / "complete"
    if not complete.exists():
        venv.create(home, with_pip=True, clear=True)
        command = [str(programs / "python"), "-m", "pip", "install", "--quiet", requirement]
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
        if completed.returncode:
            raise BenchmarkError(f"{requirement} cannot be installed\n{completed.stderr[-2000:]}")
        complete.touch()
    return programs


def require_flake8_plugin() -> None:
    """Fail where flake8 would run without devicelint, which would then look very fast."""
    plugins = metadata.entry_points(group="flake8.extension")
    if not any(plugin.value.startswith("devicelint") for plugin in plugins):
        raise BenchmarkError("devicelint is not installed here as a plugin of flake8")


def line_count(path: Path) -> int:
    """The number of lines of a file."""
    return path.read_bytes().count(b"\n")


def parse_tool(name: str, paths: Iterable[Path]) -> Tool:
    """`libcst.parse_module` over some files, and nothing else."""
    listing = "\n".join(map(str, paths))
    return Tool(name, (sys.executable, "-c", PARSE), r"(\d+) files parsed", input=listing)


def flake8_tool(name: str, python: Path | str, corpus: Path) -> Tool:
    """flake8 with its own defaults, in one process."""
    options = ("--isolated", "--jobs=1", "--exit-zero", "--benchmark")
    command = (str(python), "-m", "flake8", *options, str(corpus))
    return Tool(name, command, r"(\d+) +total files processed")


def devicelint_tool(name: str, path: Path, *options: str) -> Tool:
    """What a project runs in CI, on a folder or a file; by default in one process, from scratch."""
    words = options or ("--no-cache", "--jobs=1")
    command = (sys.executable, "-m", "devicelint", str(path), "--exit-zero", "-v", *words)
    return Tool(name, command, r": \d+ found", exit_statuses=(0, 2))


def peer_tools(corpus: Path, environments: Path) -> list[Tool]:
    """The published linters for PyTorch, each with its default rules, in one process."""
    torchfix = environment(environments, "torchfix==0.7.0") / "torchfix"
    preflight = environment(environments, "torch-preflight==0.5.0") / "torch-preflight"
    fix = (str(torchfix), "--jobs", "1", str(corpus))
    check = (str(preflight), "check", "--jobs", "1", "--format", "json", str(corpus))
    return [
        Tool("TorchFix 0.7.0", fix, r"Finished checking (\d+) files", exit_statuses=(0, 1)),
        Tool("torch-preflight 0.5.0", check, r'"files_checked": (\d+)', exit_statuses=(0, 1)),
    ]


def large_tools(large: Path, kept: Path) -> dict[str, Tool]:
    """Devicelint over the tree of a thousand files: once, in two processes, and again."""
    warm = devicelint_tool("devicelint, 1,000 files, remembered", large, f"--cache-dir={kept}")
    return {
        "large": devicelint_tool("devicelint, 1,000 files", large),
        "large in two": devicelint_tool(
            "devicelint, 1,000 files, 2 processes", large, "--no-cache", "--jobs=2"
        ),
        "large warm": warm,
    }


def all_tools(corpus: Path, environments: Path, large: Path, kept: Path) -> dict[str, Tool]:
    """Everything that is timed, by the short name that the acceptance uses."""
    files = python_files(corpus)
    screened = [path for path in files if screen(path.read_bytes())]
    if not screened:
        raise BenchmarkError(f"no Python file under {corpus} is about torch")
    single = min(screened, key=lambda path: abs(line_count(path) - 300))
    require_flake8_plugin()
    flake8 = environment(environments, f"flake8=={metadata.version('flake8')}")
    torchfix, preflight = peer_tools(corpus, environments)
    return {
        "devicelint": devicelint_tool("devicelint", corpus),
        "warm": devicelint_tool("devicelint, remembered", corpus, f"--cache-dir={kept}"),
        "parse": parse_tool("parse alone, files that pass the screen", screened),
        "parse all": parse_tool("parse alone, all files", files),
        "flake8": flake8_tool("flake8", flake8 / "python", corpus),
        "flake8 with devicelint": flake8_tool("flake8 with devicelint", sys.executable, corpus),
        "torchfix": torchfix,
        "preflight": preflight,
        "one file": devicelint_tool(f"devicelint, one file of {line_count(single)} lines", single),
        "import": Tool("import libcst", (sys.executable, "-c", "import libcst")),
        "start": Tool("python -c pass", (sys.executable, "-c", "pass")),
        "version": Tool(
            "devicelint --version",
            (sys.executable, "-m", "devicelint", "--version"),
            r"devicelint \d",
        ),
        **large_tools(large, kept),
    }


def measure(tools: dict[str, Tool], repeat: int) -> dict[str, Measurement]:
    """Run every tool once to warm the disk and to see that it works, then all of them in turn."""
    measured = {key: Measurement(tool) for key, tool in tools.items()}
    for tool in tools.values():
        tool.run()
    for _ in range(repeat):
        for measurement in measured.values():
            measurement.samples.append(measurement.tool.run())
    return measured


def acceptances(measured: dict[str, Measurement]) -> list[Acceptance]:
    """What devicelint promises, with what this run found."""
    wall = {key: measurement.wall for key, measurement in measured.items()}
    own, warm, start = wall["devicelint"], wall["warm"], wall["start"]
    cold_extra = wall["one file"] - wall["import"]
    two = wall["large"] / wall["large in two"]
    return [
        Acceptance("devicelint / parse alone", own / wall["parse"], 3.0, at_most=True),
        Acceptance("TorchFix / devicelint", wall["torchfix"] / own, 10.0, at_most=False),
        Acceptance("torch-preflight / devicelint", wall["preflight"] / own, 10.0, at_most=False),
        Acceptance("TorchFix / remembered", wall["torchfix"] / warm, 100.0, at_most=False),
        Acceptance("torch-preflight / remembered", wall["preflight"] / warm, 100.0, at_most=False),
        Acceptance("cold start extra in s", cold_extra, 0.25, at_most=True),
        Acceptance("--version over start in s", wall["version"] - start, 0.06, at_most=True),
        Acceptance("1,000 over start in s", wall["large warm"] - start, 0.4, at_most=True),
        Acceptance("1,000 files, one process / two", two, 1.7, at_most=False),
    ]


def as_data(corpus: Path, measured: dict[str, Measurement]) -> dict[str, Any]:
    """The whole run for `--json`."""
    files = python_files(corpus)
    return {
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in ("devicelint", "libcst", "flake8")},
        "corpus": {"name": corpus.name, "files": len(files), "lines": sum(map(line_count, files))},
        "tools": {
            measurement.tool.name: [asdict(sample) for sample in measurement.samples]
            for measurement in measured.values()
        },
        "acceptance": [asdict(each) | {"holds": each.holds} for each in acceptances(measured)],
    }


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpus", type=Path, help="a checkout of PyTorch scripts")
    parser.add_argument(
        "--large", type=Path, nargs="+", help="checkouts for a tree of 1,000 files (the corpus)"
    )
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of each tool (default 5)")
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    parser.add_argument(
        "--environments",
        type=Path,
        default=DEFAULT_ENVIRONMENTS / "devicelint-benchmarks",
        help="where the peers' virtual environments are kept",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit status whether every promise is kept."""
    options = parse_arguments(arguments)
    corpus = options.corpus.resolve()
    try:
        with tempfile.TemporaryDirectory() as made:
            large = large_tree(options.large or [corpus], Path(made, "large"))
            environments = options.environments.resolve()
            tools = all_tools(corpus, environments, large, Path(made, "kept"))
            measured = measure(tools, options.repeat)
    except BenchmarkError as error:
        print(f"speed.py: {error}", file=sys.stderr)
        return 2
    files = python_files(corpus)
    print(f"{corpus.name}: {len(files)} files, {sum(map(line_count, files))} lines")
    heading = f"{'':<40} {'median s':>8}  {'spread':<18} {'cpu s':>8} {'files':>6}"
    print(f"{heading} {'times devicelint':>17}")
    for measurement in measured.values():
        print(measurement.row(unit=measured["devicelint"].wall))
    promises = acceptances(measured)
    print(*promises, sep="\n")
    if options.json:
        options.json.write_text(json.dumps(as_data(corpus, measured), indent=2) + "\n", "utf-8")
    return 0 if all(promise.holds for promise in promises) else 1


if __name__ == "__main__":
    sys.exit(main())
