"""What came of each file of a run, and the exit status that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from devicelint.cli import terminal
from devicelint.finding import REVEALED, Finding, InputError, Severity
from devicelint.linter.result import concerns_devices
from devicelint.output import internal_error
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.linter.lint import Fixed
    from devicelint.linter.result import CheckResult, Met

Result = TypeVar("Result")


@dataclass
class Tally:
    """Counts what a run found and changed, and reports every problem once."""

    files: int = 0
    passed_over: int = 0
    """Those of them that mention nothing of torch, so that nobody parses them."""
    found: list[CheckResult] = field(default_factory=list)
    """The files with findings, without their text: a large project would stay in memory."""
    has_findings: bool = False
    """Whether anything was found that makes the run fail: see `_counts`."""
    fixed: int = 0
    fixed_files: int = 0
    unproven: list[str] = field(default_factory=list)
    """What a proof shows to fail."""
    problems: dict[str, None] = field(default_factory=dict)
    assumed: dict[str, Met] = field(default_factory=dict)
    """What the configuration assumes of names that were met, by where it does."""
    assumption_places: dict[str, str] = field(default_factory=dict)
    """All the names that it says something of, by where it does."""
    on_problem: Callable[[InputError], None] | None = None
    """Who gets each problem besides the person who runs this."""

    def attempt(self, path: str, work: Callable[[], Result]) -> Result | None:
        """Do the work of one file; report what went wrong in one line, and return None then."""
        try:
            return work()
        except InputError as error:
            self.problem(error)
        except BrokenPipeError:
            raise
        except OSError as error:
            self.problem(InputError(path, 1, 0, str(error.strerror or error)))
        except Exception as error:  # noqa: BLE001 - other files are still checked
            message = (
                f"{internal_error.CODE} {internal_error.NAME}: {internal_error.describe(error)}"
            )
            self.problem(InputError(path, 1, 0, message))
        return None

    def problem(self, problem: InputError) -> None:
        """Report a problem that leaves a file unchecked; a shared one, of a configuration, once."""
        line = printable(str(problem))
        if line not in self.problems:
            self.problems[line] = None
            terminal.say(line)
            if self.on_problem is not None:
                self.on_problem(problem)

    def count(self, checked: CheckResult, config: Config) -> None:
        """Count a file and its findings."""
        self.files += 1
        self.passed_over += not concerns_devices(checked.source)
        self.has_findings |= any(_counts(finding, config) for finding in checked.findings)
        for one in checked.assumed:
            if not one.known or one.place not in self.assumed:
                self.assumed[one.place] = one
        if checked.findings:
            no_text = replace(checked.source, text="", document=None)
            self.found.append(replace(checked, source=no_text))

    def count_left(self, checked: CheckResult, config: Config) -> None:
        """Count the findings of a file that was not to be changed."""
        self.count(checked, config)
        self.files -= 1

    def count_fixes(self, fixed: Fixed) -> None:
        """Count what was fixed in a file."""
        self.fixed += len(fixed.applied)
        self.fixed_files += fixed.after.text != fixed.before.text

    def idle_assumptions(self, *, verbose: bool) -> Iterator[str]:
        """What to say of assumptions for which there is no use in any of the files."""
        for place, name in self.assumption_places.items() if verbose else ():
            if place not in self.assumed:
                yield f"{place}: no file that was checked reads {name}"
        for one in self.assumed.values():
            if one.known:
                message = (
                    f"nothing needs to be assumed of {one.name}: it is understood in {one.known}"
                )
                yield f"{one.place}: {message}"


def _counts(finding: Finding, config: Config) -> bool:
    """Whether a finding makes a run fail: a note does where the settings ask for its rule."""
    if finding.code == REVEALED:
        return False
    is_note = finding.severity is Severity.NOTE
    return not is_note or bool(config.decision(finding.code, finding.name).key)
