"""`python -m runtime_guard mutate` and `prove`: what a script needs, shown by running it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_guard.command_line import BAD_USAGE, Parser, UsageError
from runtime_guard.mutation import progress
from runtime_guard.mutation.machines import MACHINES
from runtime_guard.mutation.mutation import mutate
from runtime_guard.mutation.proof import Change, prove
from runtime_guard.mutation.real import real_gpus
from runtime_guard.mutation.running import Job
from runtime_guard.mutation.source import ScriptSource, SourceError
from runtime_guard.mutation.tables import MEANINGS, MutationTable, ProofTable, described
from runtime_guard.profiler.report.command import in_terminal, print_text
from runtime_guard.profiler.report.words import counted, printable
from runtime_guard.profiler.report.writing import is_stream, writable, write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

SOME_WRONG = 1
INTERRUPTED = 130
TERMINATED = 143
STANDARD_OUTPUT = "-"

MUTATE = """\
Runs SCRIPT on a virtual machine with GPUs, once as it is, and then once
without each of its moves between devices: .to(device), .cuda(), .cpu(),
device=, map_location=, torch.cuda.FloatTensor, torch.set_default_device, with
torch.device(). Each run has its own process, which starts with the same random
seeds. SCRIPT is not changed. It writes its output files in every run."""

MUTATE_DETAILS = (
    "verdicts:\n"
    + "".join(
        textwrap.fill(meaning, 79, initial_indent=f"  {verdict:<10} ", subsequent_indent=" " * 13)
        + "\n"
        for verdict, meaning in MEANINGS.items()
    )
    + """
exit status: 0 every move is needed, 1 some are not, or it could not be decided,
2 wrong usage, or the unchanged script does not pass
"""
)

PROVE = f"""\
Runs SCRIPT for a few training steps on several machines
({", ".join(MACHINES)}), and reports what it did on each, and on which
device its parameters were. CUDA GPUs of this machine are used; the others are
virtual. --before and --after name files with two versions of SCRIPT, which are
compared: what they do, and whether the losses on the CPU are the same, bit for
bit. Each version runs as if it were in SCRIPT's file. Each run has its own
process, which starts with the same random seeds. SCRIPT is not changed. It
writes its output files in every run."""

PROVE_DETAILS = """\
exit status: 0 the script passes, 1 it fails, or a change leads to other losses,
2 wrong usage. A script that fails without a GPU both before and after a change
may need one, which is not a failure. If it trained on the GPU before the
change, it has to do so afterwards.
"""


def proving_main(command: str, words: Sequence[str]) -> int:
    """Run `mutate` or `prove` and return the exit status."""
    former = signal.signal(signal.SIGTERM, _terminated)
    try:
        return _mutate(words) if command == "mutate" else _prove(words)
    except (SourceError, UsageError, ValueError) as error:
        sys.stderr.write(f"runtime_guard {command}: {printable(str(error))}\n")
        return BAD_USAGE
    except KeyboardInterrupt:
        sys.stderr.write(f"runtime_guard {command}: interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read has seen enough. What is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SOME_WRONG
    finally:
        signal.signal(signal.SIGTERM, former)


def _terminated(_number: int, _frame: object) -> None:
    """End as `sys.exit` does, so that no run goes on alone."""
    raise SystemExit(TERMINATED)


def _mutate(words: Sequence[str]) -> int:
    given = _parsed(_mutate_parser(), words)
    json_path = _json_path(given)
    source = ScriptSource.read(given.script)
    job = _job(given)
    with progress.shown(given.script) as said:
        mutation = mutate(job, source, given.virtual_gpu, jobs=given.jobs, progress=said)
    from runtime_guard.mutation.documents import of_mutation

    whole = mutation.whole
    _write(json_path, of_mutation(mutation))
    if whole.ending != "passed":
        machine = f"a virtual machine with {counted(given.virtual_gpu, 'GPU')}"
        late = f"it has not ended after {job.timeout:g} s"
        why = described(whole.failure, given.script) if whole.failure else late
        raise UsageError(f"{given.script} does not pass as it is, on {machine}: {why}")
    _show(json_path, MutationTable(mutation))
    return int(any(mutant.verdict != "needed" for mutant in mutation.mutants))


def _prove(words: Sequence[str]) -> int:
    given = _parsed(_prove_parser(), words)
    json_path = _json_path(given)
    after = ScriptSource.read(given.after or given.script, given.script)
    sources = [after]
    if given.before is not None:
        sources.insert(0, ScriptSource.read(given.before, given.script))
    others = [
        Change(name, *(ScriptSource.read(text, name) for text in two)) for name, *two in given.also
    ]
    real = 0 if given.virtual else real_gpus()
    with progress.shown(given.script) as said:
        proof = prove(_job(given), sources, others, jobs=given.jobs, real=real, progress=said)
    from runtime_guard.mutation.documents import of_proof

    _write(json_path, of_proof(proof))
    _show(json_path, ProofTable(proof))
    problems = proof.problems()
    for problem in problems:
        sys.stderr.write(f"runtime_guard prove: {problem}\n")
    return SOME_WRONG if problems else 0


def _mutate_parser() -> Parser:
    parser = _parser("mutate", MUTATE, MUTATE_DETAILS)
    parser.add_argument(
        "--virtual-gpu", type=_count, default=1, metavar="N", help="number of GPUs (1)"
    )
    _add_common(parser, steps=None)
    return parser


def _prove_parser() -> Parser:
    parser = _parser("prove", PROVE, PROVE_DETAILS)
    parser.add_argument("--before", metavar="FILE", help="SCRIPT before a change")
    parser.add_argument("--after", metavar="FILE", help="SCRIPT after the change")
    parser.add_argument(
        "--also",
        nargs=3,
        action="append",
        default=[],
        metavar=("FILE", "BEFORE", "AFTER"),
        help="another file of the program that changes, and files with its two versions",
    )
    parser.add_argument(
        "--virtual", action="store_true", help="use virtual GPUs, even if there are real ones"
    )
    _add_common(parser, steps=3)
    return parser


def _parser(command: str, description: str, epilog: str) -> Parser:
    return Parser(
        prog=f"python -m runtime_guard {command}",
        usage=f"python -m runtime_guard {command} [OPTIONS] SCRIPT [ARGUMENTS]",
        description=description,
        epilog=epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_common(parser: Parser, steps: int | None) -> None:
    add = parser.add_argument
    all_of_them = "all" if steps is None else steps
    add(
        "--steps",
        type=_count,
        default=steps,
        metavar="N",
        help=f"end each run after N training steps, like sys.exit(0) ({all_of_them})",
    )
    add("--timeout", type=_seconds, default=300.0, metavar="S", help="seconds for a run (300)")
    add("--jobs", type=_count, default=1, metavar="N", help="number of runs at the same time (1)")
    add("--json", metavar="FILE", help="write one JSON document to FILE; - for standard output")
    add("script", nargs="?", metavar="SCRIPT", help="the file of the script")
    add(
        "arguments",
        metavar="ARGUMENTS",
        nargs=argparse.REMAINDER,
        help="the arguments of the script",
    )


def _job(given: argparse.Namespace) -> Job:
    threads = None if given.jobs == 1 else max(1, (os.cpu_count() or 1) // given.jobs)
    return Job(given.script, tuple(given.arguments), given.steps, given.timeout, threads)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 1 or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, above 0")
    return seconds


def _parsed(parser: Parser, words: Sequence[str]) -> argparse.Namespace:
    given = parser.parse_args(words)
    if given.script is None:
        raise UsageError("there is no script to run; --help shows how to name one")
    if find_spec("torch") is None:
        raise UsageError("PyTorch is not installed: pip install 'devicelint[guard]'")
    return given


def _json_path(given: argparse.Namespace) -> Path | None:
    """Where the document goes; None where none is asked for.

    Raises:
        ValueError: it cannot go there.
    """
    if given.json is None or given.json == STANDARD_OUTPUT:
        return None if given.json is None else Path(STANDARD_OUTPUT)
    path = writable("--json", given.json)
    if not is_stream(path) and path.resolve() == Path(given.script).resolve():
        raise UsageError(f"--json is {given.json!r}: it would overwrite the script")
    return path


def _write(path: Path | None, document: dict[str, Any]) -> None:
    if path is None:
        return
    text = json.dumps(document, indent=2) + "\n"
    if path == Path(STANDARD_OUTPUT):
        print_text(text)
        return
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _show(json_path: Path | None, table: RenderableType) -> None:
    if json_path != Path(STANDARD_OUTPUT):
        print_text(in_terminal(table))
