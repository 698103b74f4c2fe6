"""The command line: `python -m runtime_guard`, which runs a script under the guard."""

from __future__ import annotations

import argparse
import atexit
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runtime_guard.command_line import BAD_USAGE, Parser, UsageError
from runtime_guard.launcher import script as _script
from runtime_guard.launcher.activation import activate
from runtime_guard.launcher.machine_options import add_machine_options, machine_of
from runtime_guard.launcher.outcome import Outcome, version
from runtime_guard.profiler.report.writing import writable
from runtime_guard.settings import Environment, mode_of, settings_from

if TYPE_CHECKING:
    from collections.abc import Sequence

ACTIONS = ("raise", "warn", "move", "explain", "off")
NUMBER = re.compile(r"[-+]?\d+(\.\d*)?")

USAGE = """\
python -m runtime_guard [OPTIONS] SCRIPT [ARGUMENTS]
       python -m runtime_guard [OPTIONS] -m MODULE [ARGUMENTS]
       python -m runtime_guard report FILE
       python -m runtime_guard mutate [OPTIONS] SCRIPT [ARGUMENTS]
       python -m runtime_guard prove [OPTIONS] SCRIPT [ARGUMENTS]"""

OVERVIEW = """\
Runs a training script unchanged, and checks before every module call that its
inputs are on the module's device. If they are not, it reports which module,
which argument and which line, and what to write there. The processes that the
script starts are guarded too.

With --virtual-gpu, the script finds N CUDA devices, even if the machine has
none. Its tensors stay in host memory, each has a device, and an operation that
CUDA would refuse raises CUDA's error."""

DETAILS = """\
actions:
  raise    stop with an error that says what to change (the default)
  warn     warn once for each place, and continue
  move     move the tensor to the module's device, warn once for each place,
           and continue
  explain  check nothing; add an explanation to the device errors that torch
           raises (the default with --virtual-gpu, because a check would stop
           the script before torch's own error)
  off      neither; with --virtual-gpu, torch's own errors as they are

examples:
  python -m runtime_guard train.py --epochs 3
  python -m runtime_guard --action warn --steps 5 -m package.train --lr 0.1
  python -m runtime_guard --json found.json \\
      -m torch.distributed.run --nproc-per-node 2 train.py
  python -m runtime_guard --virtual-gpu train.py
  python -m runtime_guard --virtual-gpu 2 \\
      -m torch.distributed.run --nproc-per-node gpu train.py
  python -m runtime_guard --record run.jsonl train.py
  python -m runtime_guard report run.jsonl
which moves between devices are needed:
  python -m runtime_guard mutate --steps 3 train.py
what it does without a GPU, with 1 and with 2:
  python -m runtime_guard prove train.py

Everything after SCRIPT or MODULE is passed to it, including options. To run a
script called "report", "mutate" or "prove", write ./report. The word after
--virtual-gpu is N only if it is a number. The variables
RUNTIME_GUARD_VIRTUAL_GPU, RUNTIME_GUARD_VIRTUAL_GPU_NAME,
RUNTIME_GUARD_VIRTUAL_GPU_MEMORY_GB, RUNTIME_GUARD_VIRTUAL_GPU_CUDA and
RUNTIME_GUARD_VIRTUAL_GPU_CAPABILITY apply if the options are not given;
--virtual-gpu 0 means no devices. The exit status is that of the script, or 2
if the command line is not valid.
"""


@dataclass(frozen=True, slots=True)
class Command:
    """What a command line asks for: a program, and how to guard it."""

    program: _script.Script | _script.Module
    environment: Environment
    json_path: Path | None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; what the script raises goes on to the interpreter."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["report"]:
        from runtime_guard.profiler.report.command import report_main

        return report_main(words[1:])
    if words[:1] in (["mutate"], ["prove"]):
        from runtime_guard.mutation.command import proving_main

        return proving_main(words[0], words[1:])
    if not words:
        sys.stderr.write(_parser().format_help())
        return BAD_USAGE
    try:
        command = parse(words)
    except UsageError as error:
        print(f"runtime_guard: {error}", file=sys.stderr)
        return BAD_USAGE
    activation = activate(command.environment)
    outcome = Outcome(activation, command.json_path)
    # Registered before anything of the script's: it is called after all of that, and its threads.
    atexit.register(outcome.report)
    _script.run(command.program, outcome.notice)
    return 0


def parse(words: Sequence[str]) -> Command:
    """Read a command line; `--help` and `--version` print what they are asked for, and leave.

    Raises:
        UsageError: it makes no sense.
    """
    parser = _parser()
    own, rest = _divided(words, parser)
    given, unknown = parser.parse_known_args(own)
    if given.version:
        print(f"runtime_guard {version()}")
        parser.exit()
    if unknown:
        raise UsageError(_unknown(unknown[0], parser))
    try:
        environment = _environment(given)
        json_path = None if given.json is None else writable("--json", given.json)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if not rest:
        raise UsageError("there is no script to run; --help shows how to name one")
    command = Command(_program(rest), environment, json_path)
    _check_files(command)
    return command


def _parser() -> Parser:
    parser = Parser(
        "python -m runtime_guard",
        usage=USAGE,
        description=OVERVIEW,
        epilog=DETAILS,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--action", metavar="ACTION", help=", ".join(ACTIONS))
    add("--steps", metavar="N", help="check the first N training steps only")
    add("--every", default="1", metavar="K", help="check one training step in K")
    add("--only", action="append", metavar="PATTERN", help="check only modules whose path matches")
    add("--skip", action="append", metavar="PATTERN", help="skip modules whose path matches")
    add("--check-meta", action="store_true", help="also check tensors on the meta device")
    add("--record", metavar="FILE", help="record copies between devices, for the report")
    add("--json", metavar="FILE", help="write the findings to FILE, even if the run fails")
    add("--version", action="store_true", help="print the version")
    add_machine_options(parser.add_argument_group("virtual GPU"))
    parser.add_argument_group("programs").add_argument(
        "-m", metavar="MODULE", help="run a module, like python -m"
    )
    return parser


def _divided(words: Sequence[str], parser: Parser) -> tuple[list[str], list[str]]:
    """Our own options, and the words from the script, or from `-m`, on."""
    taking = {name: each.nargs for each in parser._actions for name in each.option_strings}
    index = 0
    while index < len(words):
        word = words[index]
        if word == "--":
            return list(words[:index]), list(words[index + 1 :])
        if word == "-" or not word.startswith("-") or word[:2] == "-m":
            break
        index += 2 if _takes_next(taking.get(word, 0), words[index + 1 :]) else 1
    return list(words[:index]), list(words[index:])


def _takes_next(nargs: int | str | None, following: Sequence[str]) -> bool:
    """Whether an option takes the next word: one that may do without it takes numbers alone."""
    if nargs == "?":
        return bool(following) and NUMBER.fullmatch(following[0]) is not None
    return nargs is None


def _unknown(word: str, parser: Parser) -> str:
    from difflib import get_close_matches

    option = word.split("=", maxsplit=1)[0]
    nearest = get_close_matches(option, parser._option_string_actions, n=1, cutoff=0.65)
    hint = f'; did you mean "{nearest[0]}"?' if nearest else ""
    return f'there is no option "{option}"{hint}'


def _environment(given: argparse.Namespace) -> Environment:
    machine = machine_of(given)
    action = given.action or ("explain" if machine else "raise")
    if action not in ACTIONS:
        raise UsageError(f"--action is {action!r}: expected one of {', '.join(ACTIONS)}")
    checks = action not in ("explain", "off")
    settings = settings_from(
        action=action if checks else "raise",
        steps=None if given.steps is None else _count("steps", given.steps),
        every=_count("every", given.every),
        only=",".join(given.only or ()),
        skip=",".join(given.skip or ()),
        meta=given.check_meta,
    )
    record = None if given.record is None else str(writable("--record", given.record))
    return Environment(mode_of(action), settings, record, machine)


def _count(name: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"--{name} is {text!r}: expected a whole number, 1 or more")
    return int(text)


def _check_files(command: Command) -> None:
    """Let nothing be overwritten that is needed."""
    record = command.environment.record
    files = {"--record": record and Path(record), "--json": command.json_path}
    written = {option: file.resolve() for option, file in files.items() if file}
    if len(written) > len(set(written.values())):
        raise UsageError("--record and --json name the same file: each needs its own")
    program = command.program
    for option, file in written.items():
        if isinstance(program, _script.Script) and Path(program.path).resolve() == file:
            raise UsageError(f"{option} is {program.path!r}: it would overwrite the script")
    if record and Path(record).exists() and not Path(record).is_file():
        raise UsageError(f"--record is {record!r}: a device cannot be read back")


def _program(words: Sequence[str]) -> _script.Script | _script.Module:
    first, *rest = words
    if first == "-":
        raise UsageError("a script cannot be read from standard input: give it a file")
    if first == "-m" and not rest:
        raise UsageError("-m needs the name of a module")
    return _script.arguments_of(words)
