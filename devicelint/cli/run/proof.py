"""`--prove`: has runtime_guard run scripts before and after a change, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devicelint.cli import terminal
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN
from devicelint.finding import InputError
from devicelint.output.proof import unreached
from devicelint.workspace.project import home_of

if TYPE_CHECKING:
    from devicelint.linter.lint import Fixed
    from devicelint.text.source import SourceFile
    from devicelint.workspace.project import Project

NEEDED = {"runtime_guard": "runtime_guard", "torch": "PyTorch"}
"""What runs scripts: the package that is imported there, and its name for people."""

STEPS = ("3", "30", "300")
"""How many steps runs make where nobody says it: the first of them that gets to all that is new."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def refuse_contradictions(options: Namespace) -> None:
    """Say before anything is written what cannot be proven.

    Raises:
        UsageError: the options make no sense together, or what a proof needs is not installed.
    """
    if not (options.fix or options.diff):
        raise UsageError("--prove runs what --fix or --diff makes of a script: give one of them")
    paths = options.paths
    if options.entry is None and (not paths or STDIN in paths or any(map(os.path.isdir, paths))):
        raise UsageError("--prove runs scripts: give files, or adopt a program with --entry FILE")
    missing = [name for package, name in NEEDED.items() if find_spec(package) is None]
    if missing:
        needs = f"--prove needs {' and '.join(missing)}, not installed here"
        raise UsageError(f"{needs}: pip install 'devicelint[guard]'")


def scripts(files: Sequence[Fixed], options: Namespace, project: Project) -> list[Fixed]:
    """Those of the files that are run: the entry, or what none of them imports."""
    if options.entry is not None or len(files) == 1:
        return list(files[:1])
    homes = {home_of(each.after): project.imported_from(each.after) for each in files}
    imported = {home for own, reached in homes.items() for home in reached if home != own}
    return [each for each in files if home_of(each.after) not in imported] or list(files)


def run(
    script: Fixed,
    files: Sequence[Fixed],
    options: Namespace,
    now: Callable[[str], None] = lambda _doing: None,
) -> dict[str, Any]:
    """Run a script as it was and as it is now, and return what each machine made of it.

    What it imports is read as it was and as it is now as well, wherever that lies meanwhile.  Where
    no number of steps is asked for, runs that come to an end of theirs before they have come to
    all that is new are made again with more of them.  What none came to is not proven.  `now` is
    told what is being done.

    Raises:
        InputError: it cannot be run.
    """
    document: dict[str, Any] = {}
    for steps in (options.prove_steps,) if options.prove_steps else STEPS:
        if document:
            terminal.say(
                f"{unreached(document)} not reached in {document['steps']} steps: now {steps}"
            )
        now(f"running {script.after.path} for {steps} steps on each machine")
        document = _run(script, files, options, steps)
        if not _may_come_further(document):
            break
    _name_places(document, script)
    if places := unreached(document):
        document["problems"].append(f"no run reached the new code on {places}")
    return document


def _may_come_further(document: dict[str, Any]) -> bool:
    """Whether something new was not reached, and a run that went well was ended by its steps."""
    is_cut = any(
        run["failure"] is None and run["steps"] >= document["steps"] for run in document["after"]
    )
    return is_cut and bool(unreached(document))


def _run(script: Fixed, files: Sequence[Fixed], options: Namespace, steps: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="devicelint-") as folder:
        texts = list(_texts(script, files, Path(folder)))
        command = _command(script.after.path, texts, options, steps)
        said = subprocess.run(command, capture_output=True, check=False)
    try:
        document: dict[str, Any] = json.loads(said.stdout)
    except ValueError:
        lines = said.stderr.decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"runtime_guard ended with status {said.returncode}"
        raise InputError(script.after.path, 1, 0, f"nothing is proven: {why}") from None
    return document


def _texts(script: Fixed, files: Sequence[Fixed], folder: Path) -> Iterator[str]:
    """The options that name what is run, before the change, if there is any, and after it."""
    yield f"--after={_written(folder / 'after', script.after)}"
    changed = [each for each in files if each.after.text != each.before.text]
    if changed:
        yield f"--before={_written(folder / 'before', script.before)}"
    for number, each in enumerate(changed):
        if each is not script:
            before = _written(folder / f"{number}.before", each.before)
            after = _written(folder / f"{number}.after", each.after)
            yield from ("--also", each.after.path, before, after)


def _written(file: Path, source: SourceFile) -> str:
    file.write_bytes(runnable(source))
    return str(file)


def runnable(source: SourceFile) -> bytes:
    """What of a file is run: all of it, or the Python of a notebook or a page, line for line."""
    if source.document is None:
        return source.to_bytes()
    # What stands between cells is written for whoever reads them, and is a comment.
    pairs = zip(
        *(text.splitlines(keepends=True) for text in (source.code, source.text)), strict=True
    )
    lines = (
        code if source.label(number) is not None else shown
        for number, (code, shown) in enumerate(pairs, start=1)
    )
    return "".join(lines).encode("utf-8", "surrogatepass")


def _name_places(document: dict[str, Any], script: Fixed) -> None:
    """Say lines of a notebook as people do: the line of its cell."""
    for name, source in (("before", script.before), ("after", script.after)):
        if source.document is None or document[name] is None:
            continue
        for run in document[name]:
            line = (run["failure"] or {}).get("line")
            if line and run["told"].startswith(f"line {line}: "):
                place = source.location_of_line(line, 0).line_text
                run["told"] = run["told"].replace(f"line {line}", f"line {place}", 1)
    if script.after.document is not None:
        document["unreached_lines"] = [
            script.after.location_of_line(line, 0).line_text for line in document["unreached_lines"]
        ]


def _command(script: str, words: list[str], options: Namespace, steps: str) -> list[str]:
    command = [sys.executable, "-m", "runtime_guard", "prove", "--json=-", *words]
    command.append(f"--steps={steps}")
    if options.prove_timeout is not None:
        command.append(f"--timeout={options.prove_timeout}")
    # A name that begins with a dash is no option.
    command.append(f"./{script}" if script.startswith("-") else script)
    return [*command, *(options.prove_args or ())]
