"""What `make release-check` refuses before it builds, and what the source distribution holds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import addresses, release_check
from tools.addresses import ROOT, Project

PROJECT = Project.read()


def problems(**changed) -> list[str]:
    given = {"final": False, "tag": None, **changed}
    return list(release_check.problems(ROOT, PROJECT, **given))


def test_this_checkout_can_be_tried():
    assert problems() == []


def test_the_tag_is_the_version():
    assert problems(tag=f"v{PROJECT.version}") == []
    assert problems(tag=PROJECT.version) == [
        f"the tag is {PROJECT.version}, but pyproject.toml has version {PROJECT.version}"
    ]


def test_a_release_needs_an_address_its_changelog_and_no_fragment(monkeypatch, tmp_path):
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d/+one.added.md").write_text("One.\n", encoding="utf-8")
    (tmp_path / "changelog.d/two.added.md").write_text("Two.\n", encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.0 (2026-01-31)\n", encoding="utf-8")
    monkeypatch.setattr(addresses, "written", lambda root, project: ())
    unpublished = Project("1.0", {})
    name = "changelog.d/two.added.md: a fragment is +NAME.KIND.md or NUMBER.KIND.md"
    assert list(release_check.problems(tmp_path, unpublished, final=False, tag=None)) == [name]
    assert list(release_check.problems(tmp_path, unpublished, final=True, tag=None)) == [
        name,
        *addresses.missing(unpublished),
        "changelog.d: 2 fragments are left; run `make changelog`",
        "CHANGELOG.md: the newest section is not that of 1.0",
    ]


def test_nothing_is_built_where_something_is_wrong(monkeypatch, capsys):
    monkeypatch.setattr(release_check, "build", lambda: pytest.fail("was built"))
    assert release_check.main(["--tag", "v0.0.0"]) == 1
    assert capsys.readouterr().err.startswith("release-check: the tag is v0.0.0, but")


def test_a_step_that_fails_is_shown():
    with pytest.raises(release_check.ReleaseCheckError, match=r"(?s)nonsense.*exit status 2"):
        release_check.run("make", "nonsense")


def test_each_set_of_tests_that_runs_on_the_installed_package_exists():
    assert all((ROOT / each).is_dir() for each in release_check.TESTS)


def test_the_source_distribution_holds_every_file_of_the_repository():
    from hatchling.builders.sdist import SdistBuilder

    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    kept = {Path(each.path) for each in SdistBuilder(str(ROOT)).recurse_included_files()}
    tracked = {ROOT / name for name in listed.split("\0") if name}
    # A build adds these by itself.
    added = {".gitignore", "LICENSE", "pyproject.toml"}
    assert {path.relative_to(ROOT).as_posix() for path in tracked - kept} <= added
