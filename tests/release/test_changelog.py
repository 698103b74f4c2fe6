"""The news fragments make a changelog, and a release finds its notes there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.release_check import ReleaseCheckError, fragments, notes

ROOT = Path(__file__).parents[2]


def towncrier(root: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", *words, "--date", "2026-01-31"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """What a release of this repository is made from, elsewhere."""
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "changelog.d", tmp_path / "changelog.d")
    return tmp_path


def test_a_draft_has_an_entry_for_each_fragment():
    draft = towncrier(ROOT, "--draft", "--version", "9.8.7")
    assert draft.startswith("## 9.8.7 (2026-01-31)\n")
    entries = re.findall(r"^- .*(?:\n(?!- |#).*)*", draft, re.MULTILINE)
    assert len(entries) == len(fragments(ROOT))
    assert not [entry for entry in entries if re.search(r"\(#\D", entry)], (
        "no issue has such a name"
    )


def test_every_link_of_a_fragment_leads_from_the_changelog_to_a_file():
    for name in fragments(ROOT):
        text = (ROOT / "changelog.d" / name).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            target = link.partition("#")[0]
            assert "://" in target or (ROOT / target).exists(), (name, link)


def test_a_build_puts_its_section_first_and_takes_the_fragments(release):
    said = (release / "CHANGELOG.md").read_text(encoding="utf-8")
    (release / "changelog.d/+one.added.md").write_text("The first one.\n", encoding="utf-8")
    towncrier(release, "--yes", "--version", "9.8.7")
    assert fragments(release) == []
    (release / "changelog.d/+two.fixed.md").write_text("The second one.\n", encoding="utf-8")
    towncrier(release, "--yes", "--version", "9.8.8")
    changelog = (release / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog.startswith(said.partition("<!--")[0])
    assert changelog.index("## 9.8.8") < changelog.index("## 9.8.7")
    assert notes(changelog, "9.8.8") == "### Fixed\n\n- The second one.\n"
    assert "- The first one.\n" in notes(changelog, "9.8.7")


def test_a_version_without_a_section_has_no_notes():
    with pytest.raises(ReleaseCheckError, match=r"no section for 1\.2\.3"):
        notes("# Changelog\n\n## 1.2 (2026-01-31)\n\n- x\n", "1.2.3")
