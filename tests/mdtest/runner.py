"""Runs one section of a page, and says of every line that does not hold what it is instead."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from tests.mdtest.analyser import Analyser, BadSettings, NotChecked, Observation
from tests.mdtest.execution import differences, execute, machine
from tests.mdtest.expectations import AnnotatedCode, annotated
from tests.mdtest.markdown import Fence
from tests.mdtest.matching import mismatches
from tests.mdtest.names import undefined_names
from tests.mdtest.page import HAS_ENTRY, LEFT, UNNAMED, Example, Files, Run, Section


@dataclass(frozen=True)
class Complaint:
    """Something on a page that does not hold."""

    line: int
    """The page's line."""
    expected: str
    actual: str
    code: str = ""
    replacement: tuple[Fence, str] | None = None
    """The generated block that `--update` would rewrite, and its new content."""


def complaints(
    section: Section, analyser: Analyser, *, executes: bool = True
) -> Iterator[Complaint]:
    """Everything in the section that does not hold; empty means passed.

    With `executes` off, `run` blocks are checked as all others, and torch is not asked.
    """
    if not executes:
        section = replace(section, examples=tuple(map(_unexecuted, section.examples)))
    for problem in section.problems:
        yield Complaint(problem.line, "a page that can be read", problem.message)
    settings = section.settings or Fence(section.line, "toml", "")
    try:
        files = files_of(section)
        with analyser.among(files):
            for example in section.examples:
                yield from _Run(example, settings.content, analyser, files).complaints()
            yield from _entry_check(section, settings.content, analyser)
    except BadSettings as error:
        yield Complaint(settings.page_line(error.line), "settings that can be read", str(error))


def _unexecuted(example: Example) -> Example:
    return replace(example, is_executed=False)


def files_of(section: Section) -> Files:
    """The blocks that have a name, each without its announcements: files of one project."""
    named = [one for one in section.examples if one.path != UNNAMED]
    return tuple((one.path, annotated(one.code.content).code) for one in named)


def diff_body(before: str, after: str) -> str:
    """A unified diff without the file names; a bare `@@` separates distant hunks."""
    old, new = (text.removesuffix("\n").split("\n") for text in (before, after))
    lines = difflib.unified_diff(old, new, lineterm="")
    body = ["@@" if line.startswith("@@") else line.rstrip() for line in list(lines)[2:]]
    return "".join(f"{line}\n" for line in body[1:])


def comparable_diff(written: str) -> str:
    """The same diff without the headers that a person may have pasted along."""
    lines = [line.rstrip() for line in written.splitlines()]
    if len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ "):
        lines = lines[2:]
    lines = ["@@" if line.startswith("@@") else line for line in lines]
    return "".join(f"{line}\n" for line in (lines[1:] if lines[:1] == ["@@"] else lines))


def _entry_check(section: Section, settings: str, analyser: Analyser) -> Iterator[Complaint]:
    """What does not hold of the files of a section when the one that is executed leads them."""
    shown = {
        one.path: diff for one in section.examples for diff in one.adoptions if _has_entry(diff)
    }
    leading = [one for one in section.examples if one.run is not None]
    if not shown:
        return
    if not leading:
        yield Complaint(section.line, "a `py run` block that leads the others", "there is none")
        return
    first = leading[-1]
    named = sorted(files_of(section), key=lambda file: file[0] != first.path)
    adopted = analyser.adopt_all(tuple(named), settings)
    after = tuple((path, code) for (path, _), (code, _) in zip(named, adopted, strict=True))
    for (path, before), (code, left) in zip(named, adopted, strict=True):
        diff = shown.get(path)
        body = diff_body(before, code) if before != code else ""
        line = section.line if diff is None else diff.line
        if comparable_diff("" if diff is None else diff.content) != body:
            replacement = None if diff is None else (diff, body)
            yield Complaint(line, f"the adoption of {path}", body or "(none)\n", code, replacement)
        if left:
            yield Complaint(line, "nothing is left", left, code)
    again = analyser.adopt_all(after, settings)
    if tuple(code for code, _ in again) != tuple(code for _, code in after):
        yield Complaint(section.line, "adopting twice is as once", str(again))
    if first.is_executed:
        yield from _runs_entry(first, after)


def _runs_entry(first: Example, files: Files) -> Iterator[Complaint]:
    assert first.run is not None
    run = replace(first.run, files=files)
    for number in (0, 1, 2):
        failure = execute(dict(files)[first.path], first.path, replace(run, devices=number)).failure
        if failure is not None:
            expected = f"the adopted files run {machine(number)}"
            yield Complaint(first.code.line, expected, f"line {failure[0]}: {failure[1]}")


def _has_entry(diff: Fence) -> bool:
    return diff.tags == HAS_ENTRY


class _Run:
    """One example under one analyser."""

    def __init__(
        self, example: Example, settings: str, analyser: Analyser, files: Files = ()
    ) -> None:
        self.example = example
        self.files = files
        self.adoptions = [diff for diff in example.adoptions if not _has_entry(diff)]
        self.settings = settings
        self.analyser = analyser
        self.annotated: AnnotatedCode = annotated(example.code.content)
        self.use: AnnotatedCode = annotated(example.then.content if example.then else "")
        self._check = cache(self._checked)
        self._fix = cache(self._fixed)
        self._adopted = cache(self._made_by_adoption)

    def complaints(self) -> Iterator[Complaint]:
        refusals = tuple(self._refusals())
        yield from refusals
        if refusals:
            return
        try:
            observations = self._check(self.annotated.code)
            yield from self._unmatched(observations)
            if self.example.run is not None and self.example.is_executed:
                yield from self._executed(self.example.run)
            for diff in self.example.diffs:
                yield from self._check_fix(diff, observations)
            for diff in self.adoptions:
                yield from self._check_adoption(diff)
            for report in self.example.reports:
                yield from self._check_report(report)
        except NotChecked as error:
            yield self._complaint(
                self.annotated.origin(error.line), "code that can be checked", str(error)
            )

    def _refusals(self) -> Iterator[Complaint]:
        for problem in self.annotated.problems:
            yield self._complaint(problem.line, "an example that can be read", problem.message)
        if self.annotated.problems:
            return
        for problem in undefined_names(self.annotated.code, self.example.path):
            origin = self.annotated.origin(problem.line)
            yield self._complaint(origin, "names that the block binds", problem.message)
        if self.example.then is not None:
            yield from self._misused(self.example.then)
        yield from self._misannounced()

    def _misannounced(self) -> Iterator[Complaint]:
        known = self.analyser.rules()
        for one in self.annotated.expectations:
            if one.is_of_torch and self.example.run is None:
                message = "`# raises` is about a block that is executed: tag it `run`"
                yield self._complaint(one.origin, "a block tagged `run`", message)
            if one.rule is not None and one.rule not in known:
                message = f"no rule has the code or name `{one.rule}`"
                yield self._complaint(one.origin, "a known rule", message)

    def _misused(self, then: Fence) -> Iterator[Complaint]:
        """What a `then` block cannot say: nothing is found in it, for nobody looks."""
        for problem in self.use.problems:
            line = then.page_line(problem.line)
            yield Complaint(line, "an example that can be read", problem.message)
        for one in self.use.expectations:
            if not one.is_of_torch:
                message = "the analyser does not see this block"
                yield Complaint(then.page_line(one.origin), "`# raises` at most", message)

    def _unmatched(self, observations: tuple[Observation, ...]) -> Iterator[Complaint]:
        found = [one for one in self.annotated.expectations if not one.is_of_torch]
        for mismatch in mismatches(found, observations):
            origin = mismatch.origin or self.annotated.origin(mismatch.line)
            shown = self.annotated.code.split("\n")[mismatch.line - 1 : mismatch.line]
            yield self._complaint(origin, mismatch.expected, mismatch.actual, "".join(shown))

    def _executed(self, tagged: Run) -> Iterator[Complaint]:
        """What torch says of the block, and of the block with each fix that is shown."""
        before = "\n".join(fence.content for fence in self.example.before)
        run = replace(tagged, before=before, then=self.use.code, files=self.files)
        code, path = self.annotated.code, self.example.path
        lines = len(code.split("\n"))
        later = [replace(one, line=one.line + lines) for one in self.use.expectations]
        shown = f"{code}\n{run.then}".split("\n")
        for diff in self.adoptions:
            yield from self._runs_adopted(diff, run)
        for found in differences(code, path, (*self.annotated.expectations, *later), run):
            line = self._page_line(found.line)
            yield Complaint(line, found.expected, found.actual, shown[found.line - 1])
        for diff in self.example.diffs:
            fixed = self._fix(code, unsafe=diff.tags != "safe")
            for number in self._right_on(fixed, run):
                failure = execute(fixed, path, replace(run, devices=number)).failure
                if failure is not None:
                    expected = f"the fix runs {machine(number)}"
                    yield Complaint(diff.line, expected, f"line {failure[0]}: {failure[1]}", fixed)

    def _runs_adopted(self, diff: Fence, run: Run) -> Iterator[Complaint]:
        """What is adopted wholly runs on every machine, whatever ran before."""
        adopted, left = self._adopted(self.annotated.code)
        for number in () if left else (0, 1, 2):
            failure = execute(adopted, self.example.path, replace(run, devices=number)).failure
            if failure is not None:
                expected = f"the adopted code runs {machine(number)}"
                yield Complaint(diff.line, expected, f"line {failure[0]}: {failure[1]}", adopted)

    def _check_adoption(self, diff: Fence) -> Iterator[Complaint]:
        code = self.annotated.code
        adopted, left = self._adopted(code)
        if adopted == code:
            yield Complaint(diff.line, "an adoption", "adoption changes nothing", code)
            return
        body = diff_body(code, adopted)
        if comparable_diff(diff.content) != body:
            yield Complaint(diff.line, diff.content or "(empty)\n", body, replacement=(diff, body))
        if left and not any(fence.tags == LEFT for fence in self.example.reports):
            yield Complaint(diff.line, "nothing is left, or a `text left` block", left, adopted)
        again, _ = self._adopted(adopted)
        if again != adopted:
            yield Complaint(diff.line, "adopting twice is as once", diff_body(adopted, again))

    def _page_line(self, line: int) -> int:
        """The page's line of a line of the block, or of what follows it."""
        later = line - len(self.annotated.code.split("\n"))
        if self.example.then is not None and later > 0:
            return self.example.then.page_line(self.use.origin(later))
        return self.example.code.page_line(self.annotated.origin(line))

    def _right_on(self, fixed: str, run: Run) -> tuple[int, ...]:
        """The machines on which a file runs, for all that is still reported of it."""
        kinds = {one.kind for one in self._check(fixed)}
        if "error" in kinds:
            return ()
        if run.alone:
            return (run.devices,)
        return (2,) if "warning" in kinds else (0, 2)

    def _check_fix(self, diff: Fence, observations: tuple[Observation, ...]) -> Iterator[Complaint]:
        unsafe = diff.tags != "safe"
        fixed = self._fix(self.annotated.code, unsafe=unsafe)
        if fixed == self.annotated.code:
            yield Complaint(diff.line, "a fix", "the fix changes nothing", fixed)
            return
        body = diff_body(self.annotated.code, fixed)
        if comparable_diff(diff.content) != body:
            yield Complaint(diff.line, diff.content or "(empty)\n", body, replacement=(diff, body))
        if diff.tags == "unsafe" and self._fix(self.annotated.code, unsafe=False) != (
            self.annotated.code
        ):
            yield Complaint(diff.line, "unsafe fixes only", "safe fixes change the code too")
        for left in self._left_over(fixed, observations, unsafe=unsafe):
            yield Complaint(diff.line, "gone after the fix, and nothing new", str(left), fixed)
        again = self._fix(fixed, unsafe=unsafe)
        if again != fixed:
            yield Complaint(diff.line, "a second fix changes nothing", diff_body(fixed, again))

    def _left_over(
        self, fixed: str, observations: tuple[Observation, ...], *, unsafe: bool
    ) -> Iterator[Observation]:
        """What is found after the fix beyond what had no fix before."""
        applicable = ("safe", "unsafe") if unsafe else ("safe",)
        allowed = Counter(
            observation.code for observation in observations if observation.fix not in applicable
        )
        for observation in self._check(fixed):
            allowed[observation.code] -= 1
            if observation.kind != "revealed" and (
                observation.fix in applicable or allowed[observation.code] < 0
            ):
                yield observation

    def _check_left(self, report: Fence) -> Iterator[Complaint]:
        """What adoption leaves; where no block shows what it makes of the code, that is nothing."""
        adopted, left = self._adopted(self.annotated.code)
        if adopted != self.annotated.code and not self.example.adoptions:
            changes = diff_body(self.annotated.code, adopted)
            yield Complaint(
                report.line, "adoption changes nothing, or a `diff adopt` block", changes
            )
        if report.content != left:
            shown = report.content or "(empty)\n"
            yield Complaint(report.line, shown, left, replacement=(report, left))

    def _check_report(self, report: Fence) -> Iterator[Complaint]:
        if report.tags == LEFT:
            yield from self._check_left(report)
            return
        rendered = self.analyser.report(self.annotated.code, self.example.path, self.settings)
        actual = "".join(f"{line.rstrip()}\n" for line in rendered.rstrip("\n").split("\n"))
        if report.content != actual:
            yield Complaint(
                report.line, report.content or "(empty)\n", actual, replacement=(report, actual)
            )

    def _checked(self, code: str) -> tuple[Observation, ...]:
        return self.analyser.check(code, self.example.path, self.settings)

    def _fixed(self, code: str, *, unsafe: bool) -> str:
        return self.analyser.fix(code, self.example.path, self.settings, unsafe=unsafe)

    def _made_by_adoption(self, code: str) -> tuple[str, str]:
        return self.analyser.adopt(code, self.example.path, self.settings)

    def _complaint(self, origin: int, expected: str, actual: str, code: str = "") -> Complaint:
        return Complaint(self.example.code.page_line(origin), expected, actual, code)
