"""`make release-check`: build the distributions, and try each of them as a user would.

`python -m tools.release_check` writes them to `dist/`, installs each in a new environment without
torch, checks a file, and runs tests from the source distribution on the installed wheel. `--final`
also demands what only a release has: the changelog, the address of the project and, with `--tag`,
the tag. `--notes` prints the notes of the release instead, from the changelog.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools import addresses
from tools.addresses import ROOT, Project

DIST = ROOT / "dist"
EXAMPLE = Path("examples/broken/cpu_batches.py")
FINDING = "DEV101"
TESTS = ("tests/output", "tests/suppression", "tests/config")
"""What runs on the installed package: in a minute or two, without torch and other programs."""

PACKAGES = ("devicelint", "runtime_guard", "_device_pages")
_HEADING = re.compile(r"^## (?P<version>\S+) \((?P<date>\d{4}-\d\d-\d\d)\)$", re.MULTILINE)
_FRAGMENT = re.compile(r"(?:\+[\w-]+|\d+)\.(?:added|changed|fixed|removed)\.md")


class ReleaseCheckError(Exception):
    """Something is not as a release must have it."""


def notes(changelog: str, version: str) -> str:
    """Return what the changelog has for a version, without its heading."""
    for heading in _HEADING.finditer(changelog):
        if heading["version"] == version:
            following = _HEADING.search(changelog, heading.end())
            end = following.start() if following else len(changelog)
            return changelog[heading.end() : end].strip() + "\n"
    raise ReleaseCheckError(f"CHANGELOG.md has no section for {version}: run `make changelog`")


def fragments(root: Path) -> list[str]:
    """Return the names of the news fragments."""
    found = (path.name for path in (root / "changelog.d").glob("*.md"))
    return sorted(name for name in found if name != "README.md")


def problems(root: Path, project: Project, *, final: bool, tag: str | None) -> Iterator[str]:
    """Yield what is wrong with the files of the release, before anything is built."""
    for path, before, after in addresses.written(root, project):
        if before != after:
            yield f"{path}: not what pyproject.toml says of the release; run `make generate`"
    names = fragments(root)
    for name in names:
        if not _FRAGMENT.fullmatch(name):
            yield f"changelog.d/{name}: a fragment is +NAME.KIND.md or NUMBER.KIND.md"
    if tag is not None and tag != f"v{project.version}":
        yield f"the tag is {tag}, but pyproject.toml has version {project.version}"
    if final:
        yield from addresses.missing(project)
        yield from _unfinished(root, project, names)


def _unfinished(root: Path, project: Project, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"changelog.d: {len(names)} fragments are left; run `make changelog`"
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = _HEADING.search(changelog)
    if newest is None or newest["version"] != project.version:
        yield f"CHANGELOG.md: the newest section is not that of {project.version}"


def run(*words: str | Path, cwd: Path = ROOT, expected: int = 0) -> str:
    """Run a program outside of the checkout's PYTHONPATH; return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != expected:
        command = " ".join(str(word) for word in words)
        raise ReleaseCheckError(f"{command}\n{done.stdout}exit status {done.returncode}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it; return both."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST)
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    run(sys.executable, "-m", "check_wheel_contents", wheel)
    return sdist, wheel


def unpacked(sdist: Path, folder: Path) -> Path:
    """Unpack the source distribution, less its packages, which would hide those installed."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    for package in PACKAGES:
        shutil.rmtree(tree / package)
    return tree


def environment_with(distribution: str, folder: Path) -> Path:
    """Install a distribution in a new environment; return its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", distribution)
    return python


def tried(python: Path, tree: Path, version: str) -> None:
    """Check that an installed devicelint runs, without torch, and finds what it should."""
    command = python.with_name("devicelint" + python.suffix)
    told = run(command, "--version", cwd=tree).strip()
    if told != f"devicelint {version}":
        raise ReleaseCheckError(f"`devicelint --version` prints {told!r}, not {version}")
    if FINDING not in run(command, EXAMPLE, cwd=tree, expected=1):
        raise ReleaseCheckError(f"`devicelint {EXAMPLE}` does not report {FINDING}")
    run(python, "-c", "import torch", cwd=tree, expected=1)


def check(project: Project) -> Iterator[str]:
    """Build and try the distributions; yield a line for each step that passed."""
    sdist, wheel = build()
    yield f"built: {sdist.name}, {wheel.name}; twine and check-wheel-contents accept them"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree = unpacked(sdist, folder / "sdist")
        for distribution in (sdist, wheel):
            python = environment_with(f"{distribution}[test]", folder / distribution.suffix[1:])
            tried(python, tree, project.version)
            yield f"{distribution.name}: installs without torch, and finds {FINDING}"
        tests = run(
            python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--static", *TESTS, cwd=tree
        )
        yield f"tests on the installed wheel: {tests.strip().splitlines()[-1]}"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="release_check", description="Build and try a release.")
    made.add_argument("--final", action="store_true", help="demand all that a release needs")
    made.add_argument("--tag", help="the tag, which has to be vVERSION")
    made.add_argument("--notes", action="store_true", help="print the notes of this version only")
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    arguments = parser().parse_args(words)
    project = Project.read()
    try:
        if arguments.notes:
            changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
            print(notes(changelog, project.version), end="")
            return 0
        found = list(problems(ROOT, project, final=arguments.final, tag=arguments.tag))
        for problem in found:
            print(f"release-check: {problem}", file=sys.stderr)
        if found:
            return 1
        for passed in check(project):
            print(f"release-check: {passed}", flush=True)
    except ReleaseCheckError as error:
        print(f"release-check: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
