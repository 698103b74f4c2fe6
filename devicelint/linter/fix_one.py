"""Make the fix of one finding, with those that it calls for, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from devicelint.config import Config
from devicelint.finding import Finding, Fix
from devicelint.fixes import Fixed, fix_until_stable, wording
from devicelint.linter.lint import check
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project, home_of


def fix_one(source: SourceFile, finding: Finding, config: Config, project: Project) -> Fixed:
    """What the fix of a finding makes of its file; nothing where it would do harm.

    One that begins something is made together with the fixes of what it brings.
    """

    def found(one: SourceFile) -> tuple[Finding, ...]:
        return check(one, config, project).findings

    others = {wording(one) for one in found(source) if one != finding}
    begins = finding.fix is not None and finding.fix.begins

    def accepts(one: Finding) -> bool:
        return one == finding or (begins and wording(one) not in others)

    return fix_until_stable(source, found, accepts)


def fix_across_files(
    source: SourceFile,
    finding: Finding,
    others: Sequence[SourceFile],
    config: Config,
    project: Project,
) -> tuple[Fix, dict[str, SourceFile]] | None:
    """The fix of a finding that belongs in other files, and what it makes of files, by their homes.

    None where it would do harm, or cannot be written.
    """
    sources = (source, *others)
    with project.editing(sources):
        for one in sources:
            project.hold(one)
        before = check(source, config, project).findings
        place = finding.code, finding.span
        fix = next((one.fix for one in before if (one.code, one.span) == place), None)
        if fix is None:
            return None
        made = _made(fix, sources)
        for one in made.values():
            project.hold(one)
        after = check(made.get(home_of(source), source), config, project).findings
        known = Counter(map(wording, before)) - Counter([wording(finding)])
        return None if Counter(map(wording, after)) - known else (fix, made)


def _made(fix: Fix, sources: Sequence[SourceFile]) -> dict[str, SourceFile]:
    """What the edits of a fix make of the files that it changes, the first of which is its own."""
    files = {home_of(one): one for one in sources}
    edits = {home_of(sources[0]): fix.edits, **{one.path: one.edits for one in fix.elsewhere}}
    return {
        home: files[home].with_text(apply(files[home].text, its))
        for home, its in edits.items()
        if its
    }
