"""The version and the address of the project stand in one place, and all others follow from it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tools import addresses
from tools.addresses import OWNER, PLACEHOLDER, Project
from tools.docs_site import _publish
from tools.pypi_readme import published

ROOT = addresses.ROOT
EXPLAINED = {"docs/releases.md", "pyproject.toml"}
"""These say how to set the address, and name the placeholder as an example."""

NAMED = {
    "README.md",
    "docs/ci.md",
    "SECURITY.md",
    ".github/ISSUE_TEMPLATE/config.yml",
    "CITATION.cff",
    "editors/vscode/package.json",
}
"""What changes once `[project.urls]` names the repository."""

SOMEWHERE = "https://forge.example/someone/devicelint"
KNOWN = Project(
    "4.5.6",
    {
        "Repository": SOMEWHERE,
        "Documentation": "https://someone.example/devicelint/",
        "Issues": f"{SOMEWHERE}/issues",
        "Changelog": f"{SOMEWHERE}/blob/main/CHANGELOG.md",
    },
)


def texts() -> dict[str, str]:
    """The files of the repository that could name an address, less those of tests and tools."""
    folders = (".github", "docs", "editors/vscode/src", "man", "devicelint", "runtime_guard")
    paths = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    paths += [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    paths += (ROOT / "editors/vscode").glob("*.*")
    kinds = {".cff", ".json", ".md", ".py", ".toml", ".ts", ".yaml", ".yml", ".1"}
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
        if path.suffix in kinds
    }


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A copy of each file that names the version or the address."""
    for place in (*addresses.VERSIONS, *addresses.ADDRESSES):
        (tmp_path / place.path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / place.path, tmp_path / place.path)
    return tmp_path


def written(root: Path, project: Project) -> None:
    for path, _, after in list(addresses.written(root, project)):
        (root / path).write_text(after, encoding="utf-8")


def test_every_file_agrees_with_pyproject():
    differ = [str(path) for path, old, new in addresses.written(ROOT, Project.read()) if old != new]
    assert differ == [], "make generate"


def test_these_files_name_the_address_and_no_others():
    assert {place.path.as_posix() for place in addresses.ADDRESSES} == NAMED
    naming = {path for path, text in texts().items() if OWNER in text} - EXPLAINED
    if "Repository" in Project.read().urls:
        assert naming == set()
    else:
        assert naming == NAMED - {"CITATION.cff", "editors/vscode/package.json"}


def test_an_address_is_written_everywhere_and_can_change(elsewhere):
    written(elsewhere, KNOWN)
    for name in NAMED:
        text = (elsewhere / name).read_text(encoding="utf-8")
        assert OWNER not in text
        assert "someone/devicelint" in text
    ci = (elsewhere / "docs/ci.md").read_text(encoding="utf-8")
    assert f"- repo: {SOMEWHERE}  #" in ci
    assert "uses: someone/devicelint@v4.5.6\n" in ci
    assert all(old == new for _, old, new in addresses.written(elsewhere, KNOWN))
    written(elsewhere, Project.read())
    for path, _, _ in addresses.written(ROOT, KNOWN):
        assert (elsewhere / path).read_bytes() == (ROOT / path).read_bytes()


def test_data_files_stay_what_they_are_with_an_address(elsewhere):
    written(elsewhere, KNOWN)
    cited = yaml.safe_load((elsewhere / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["repository-code"]) == ("4.5.6", SOMEWHERE)
    vscode = json.loads((elsewhere / "editors/vscode/package.json").read_text(encoding="utf-8"))
    assert (vscode["version"], vscode["repository"]["url"]) == ("4.5.6", SOMEWHERE)
    lock = json.loads((elsewhere / "editors/vscode/package-lock.json").read_text(encoding="utf-8"))
    assert (lock["version"], lock["packages"][""]["version"]) == ("4.5.6", "4.5.6")


def test_no_other_file_names_the_version():
    version = re.escape(Project.read().version)
    named = {place.path.as_posix() for place in addresses.VERSIONS}
    ours = re.compile(rf"(?:devicelint\S*|\brev: ?v|version\S*\W+){version}\b")
    assert {path for path, text in texts().items() if ours.search(text)} - EXPLAINED == named


def test_a_place_that_is_gone_is_refused():
    with pytest.raises(ValueError, match=r"SECURITY\.md: nothing here matches"):
        next(p for p in addresses.ADDRESSES if p.path.name == "SECURITY.md").within("", KNOWN)


def test_what_is_missing_is_named():
    assert addresses.missing(KNOWN) == []
    assert addresses.missing(Project("1.0", {})) == [
        f"[project.urls] has no {name}" for name in addresses.URLS
    ]
    moved = Project("1.0", {**KNOWN.urls, "Repository": PLACEHOLDER})
    assert [problem.split(":")[1].split()[0] for problem in addresses.missing(moved)] == [
        "Issues",
        "Changelog",
    ]


def test_the_readme_on_pypi_leads_to_the_files_of_the_release():
    page = "[a](docs/a.md#b) ![p](docs/p.png) [c](#c) [d](https://d.example) `x[0](y)`"
    assert published(page, None, "1.2") == page
    assert published(page, f"{SOMEWHERE}/", "1.2").startswith(
        f"[a]({SOMEWHERE}/blob/v1.2/docs/a.md#b) ![p]({SOMEWHERE}/raw/v1.2/docs/p.png) [c](#c) "
        "[d](https://d.example)"
    )


def test_no_link_of_the_readme_is_forgotten():
    page = published((ROOT / "README.md").read_text(encoding="utf-8"), SOMEWHERE, "1.2")
    targets = re.findall(r"\]\(([^)\s]+)\)", page)
    assert [each for each in targets if not each.startswith((f"{SOMEWHERE}/", "https:", "#"))] == []


def test_the_site_takes_the_address_over():
    from mkdocs.config.defaults import MkDocsConfig

    config = MkDocsConfig()
    _publish(config, Project("1.0", {}))
    assert (config.site_url, config.repo_url) == (None, None)
    _publish(config, KNOWN)
    assert (config.site_url, config.repo_url) == (KNOWN.urls["Documentation"], SOMEWHERE)
    assert config.repo_name == "someone/devicelint"
