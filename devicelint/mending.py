"""Make the fix of one finding, with those that it calls for, and no other."""

from __future__ import annotations

from devicelint.config import Config
from devicelint.engine import check
from devicelint.finding import Finding
from devicelint.fixes import Fixed, fix_until_stable, wording
from devicelint.project import Project
from devicelint.source import SourceFile


def mend(source: SourceFile, finding: Finding, config: Config, project: Project) -> Fixed:
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
