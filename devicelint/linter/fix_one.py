"""Makes the fix of one finding, with those that it calls for, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from devicelint.config import Config
from devicelint.finding import Finding, Fix
from devicelint.fixes import Fixed, fix_until_stable, wording
from devicelint.linter.lint import check
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project, home_of


def fix_one(source: SourceFile, finding: Finding, config: Config, project: Project) -> Fixed:
    """What the fix of a finding makes of its file; nothing where it would do harm.

    One that begins or uncovers something is made together with the fixes of what it brings.
    """

    def found(text: SourceFile) -> tuple[Finding, ...]:
        return check(text, config, project).findings

    others = {wording(other) for other in found(source) if other != finding}
    fix = finding.fix
    brings = fix is not None and (fix.begins or fix.uncovers)

    def accepts(other: Finding) -> bool:
        return other == finding or (brings and wording(other) not in others)

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
        _hold(project, sources)
        before = check(source, config, project).findings
        place = finding.code, finding.span
        fix = next((each.fix for each in before if (each.code, each.span) == place), None)
        if fix is None:
            return None
        changed = _changed(fix, sources)
        _hold(project, changed.values())
        after = check(changed.get(home_of(source), source), config, project).findings
    known = Counter(map(wording, before)) - Counter([wording(finding)])
    return None if Counter(map(wording, after)) - known else (fix, changed)


def _hold(project: Project, sources: Iterable[SourceFile]) -> None:
    for source in sources:
        project.hold(source)


def _changed(fix: Fix, sources: Sequence[SourceFile]) -> dict[str, SourceFile]:
    """The files that the edits of a fix change, the first of which is its own, after them."""
    files = {home_of(source): source for source in sources}
    edits = {home_of(sources[0]): fix.edits, **{file.path: file.edits for file in fix.elsewhere}}
    return {
        home: files[home].with_text(apply(files[home].text, its))
        for home, its in edits.items()
        if its
    }
