"""Real packages and scripts, run on virtual GPUs.

    python -m benchmarks.corpora list
    python -m benchmarks.corpora setup [--only PATTERN]
    python -m benchmarks.corpora run --checkouts DIR [--only PATTERN] [--tests | --scripts] [--cpu]

DIR holds a checkout of each repository, OWNER+NAME with the hash of its commit in OWNER+NAME.commit
beside it. README.md says what is shown, and how a repository is added.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.checkouts import CheckoutError
from benchmarks.corpora.environment import DEFAULT, Environment, InstallError
from benchmarks.corpora.running import Workplace, run_script, run_tests
from benchmarks.corpora.subjects import Subject, SubjectError, subjects
from benchmarks.corpora.tables import (
    ScriptRun,
    SuiteRun,
    as_data,
    lines_of_scripts,
    lines_of_suites,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Do what is asked for: 0 where it could be done, 2 where not."""
    given = _parser().parse_args(argv)
    try:
        chosen = _chosen(given.only)
        if given.what == "list":
            _print(map(_line, chosen))
        elif given.what == "setup":
            for line in Environment(given.environment).make(chosen):
                print(line, flush=True)
        else:
            _run(chosen, given)
    except (SubjectError, InstallError, CheckoutError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _chosen(pattern: str) -> list[Subject]:
    found = [each for each in subjects() if fnmatch(each.name.lower(), pattern.lower())]
    if not found:
        raise SubjectError(f"no subject is called {pattern}")
    return found


def _line(subject: Subject) -> str:
    suite = " ".join(subject.tests.paths) if subject.tests else "no tests"
    return f"{subject.name:42} {subject.half:8} {len(subject.scripts):>3} scripts, {suite}"


def _run(chosen: Sequence[Subject], given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="corpora-") as temporary:
        root = given.scratch or Path(temporary)
        environment = Environment(given.environment)
        place = Workplace(root.resolve(), given.checkouts, environment, given.machine)
        suites: list[SuiteRun] = []
        scripts: list[ScriptRun] = []
        for subject in chosen:
            if subject.tests and not given.scripts:
                suites.append(_suite(place, subject, given))
                _tell(list(lines_of_suites(suites[-1:]))[1])
            for script in () if given.tests else subject.scripts:
                if fnmatch(script.name, given.script):
                    tree = place.lay_out(subject)
                    outcome = run_script(place, subject, script, tree, limit=given.limit)
                    scripts.append(ScriptRun(subject, script, outcome))
                    _tell(list(lines_of_scripts(scripts[-1:]))[1])
    if suites:
        _print([*lines_of_suites(suites), ""])
    if scripts:
        _print(lines_of_scripts(scripts))
    if given.json is not None:
        given.json.write_text(json.dumps(as_data(suites, scripts), indent=1) + "\n")


def _suite(place: Workplace, subject: Subject, given: argparse.Namespace) -> SuiteRun:
    cpu = None
    if given.cpu:
        on_cpu = replace(place, machine="cpu")
        cpu = run_tests(on_cpu, subject, on_cpu.lay_out(subject), limit=given.limit)
    virtual = run_tests(place, subject, place.lay_out(subject), limit=given.limit)
    return SuiteRun(subject, cpu, virtual)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _print(lines: Iterable[str]) -> None:
    print("\n".join(lines), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.corpora", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="what", required=True)
    for name in ("list", "setup", "run"):
        add = commands.add_parser(name).add_argument
        add("--only", default="*", metavar="PATTERN", help="the repositories whose names match")
        if name != "list":
            add("--environment", type=Path, default=DEFAULT, metavar="DIR", help="what to run in")
    add("--checkouts", type=Path, required=True, metavar="DIR", help="where the checkouts lie")
    add("--script", default="*", metavar="PATTERN", help="the scripts whose names match")
    add("--tests", action="store_true", help="run the test suites alone")
    add("--scripts", action="store_true", help="run the scripts alone")
    add("--machine", choices=("virtual", "cuda"), default="virtual", help="on which GPUs to run")
    add("--cpu", action="store_true", help="run the test suites on the CPU as well")
    add("--limit", type=float, default=600.0, metavar="S", help="end a run after S seconds")
    add("--scratch", type=Path, metavar="DIR", help="keep the copies that ran, here")
    add("--json", type=Path, metavar="FILE", help="write the results to FILE as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
