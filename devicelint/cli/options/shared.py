"""Options that several commands have."""

from __future__ import annotations

import argparse

from devicelint.config import SURENESS
from devicelint.domain.torch_release import TorchRelease, torch_release


def codes(text: str) -> tuple[str, ...]:
    """Split "DEV101, DEV2" at commas."""
    return tuple(code.strip() for code in text.split(",") if code.strip())


def add_interactive(group: argparse._ActionsContainer, when: str = "") -> None:
    """Ask about each fix."""
    group.add_argument(
        "--interactive",
        action="store_true",
        help=f"{when}show what each fix changes, and ask: yes, no, all that follow, quit",
    )


def add_proof_options(parser: argparse.ArgumentParser) -> None:
    """Run a script before and after."""
    group = parser.add_argument_group("proof")
    group.add_argument(
        "--prove",
        action="store_true",
        help="run the script before and after its changes: without a GPU, with 1 and with 2, real "
        "or virtual, and compare the losses; needs runtime_guard and PyTorch",
    )
    group.add_argument(
        "--prove-steps",
        type=_number_of_steps,
        metavar="N",
        help="end each run after N training steps (3, then 30 and 300 until every new line ran)",
    )
    group.add_argument(
        "--prove-timeout", type=_seconds, metavar="S", help="seconds for each run (300)"
    )
    group.add_argument(
        "--prove-args",
        type=_words,
        metavar="ARGS",
        help='the arguments of the script: "--epochs 1"',
    )


def _number_of_steps(text: str) -> str:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 1 or more")
    return text


def _seconds(text: str) -> str:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, above 0")
    return text


def _words(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} cannot be split into words: {error}") from None


def add_settings_options(group: argparse._ActionsContainer) -> None:
    """What holds besides the configuration."""
    group.add_argument(
        "--ignore",
        "--extend-ignore",
        type=codes,
        action="extend",
        metavar="CODES",
        help="not these, nor those that the configuration ignores",
    )
    group.add_argument(
        "--preview",
        action="store_true",
        default=None,
        help="let rules be selected that are in preview and may still change",
    )
    group.add_argument(
        "--config",
        metavar="FILE",
        help="read the settings from FILE, not from the nearest pyproject.toml or devicelint.toml",
    )
    group.add_argument(
        "--certainty",
        choices=SURENESS,
        help="how certain a finding has to be; possible: also what a caller may only happen to do "
        "(contract)",
    )
    group.add_argument(
        "--torch-version",
        type=_torch_version,
        metavar="X.Y",
        help="the oldest release of torch that the code has to support (the newest)",
    )


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """Which files are checked of those that the paths hold."""
    group = parser.add_argument_group("files")
    group.add_argument(
        "--exclude",
        type=codes,
        action="extend",
        metavar="PATTERNS",
        help="skip these files and folders instead of those that the configuration excludes",
    )
    group.add_argument(
        "--extend-exclude",
        type=codes,
        action="extend",
        metavar="PATTERNS",
        help="skip these, too",
    )
    group.add_argument(
        "--force-exclude",
        action="store_true",
        help="skip excluded files even if a PATH names them, as pre-commit does",
    )
    group.add_argument(
        "--no-respect-gitignore",
        action="store_const",
        const=False,
        dest="respect_gitignore",
        help="check files that Git ignores, too",
    )


def _torch_version(text: str) -> TorchRelease:
    try:
        return torch_release(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_common_options(group: argparse._ActionsContainer) -> None:
    """What every command that checks files has."""
    group.add_argument(
        "--stdin-filename", metavar="PATH", help="the name of the file that is read from -"
    )
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="no summary")
    loudness.add_argument("-v", "--verbose", action="store_true", help="name each file checked")
