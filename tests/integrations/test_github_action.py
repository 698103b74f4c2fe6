"""The steps of action.yml, run as GitHub does: inputs in the environment, files beside."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WRONG = """\
import torch
assert torch.cuda.is_available()
model = torch.nn.Linear(4, 2).cuda()
print(model(torch.randn(8, 4)))
"""


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """What the machine that runs the job sets up."""
    monkeypatch.chdir(tmp_path)
    places = {"GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(tmp_path / "temp")}
    for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"):
        places[name] = str(tmp_path / name)
    for name, value in places.items():
        monkeypatch.setenv(name, value)
    commands = Path(sys.executable).parent
    monkeypatch.setenv("PATH", os.pathsep.join([str(commands), os.environ["PATH"]]))
    return tmp_path


def step(number: int, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step, with the inputs' defaults where nothing else is given."""
    given = {name: each["default"] for name, each in ACTION["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    it = ACTION["runs"]["steps"][number]
    environment = {name: _filled(value, given) for name, value in it["env"].items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", it["run"]],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _filled(expression: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], expression)


def check(**inputs: str) -> subprocess.CompletedProcess[str]:
    return step(1, **inputs)


@pytest.mark.parametrize(
    ("name", "schema"), [("action.yml", "github-actions"), ("CITATION.cff", "citation-file-format")]
)
def test_it_is_what_github_reads(name, schema):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", f"vendor.{schema}", str(ROOT / name)),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ok -- validation done\n")


def test_findings_are_annotations_and_the_step_fails(runner):
    Path("train.py").write_text(WRONG)
    done = check()
    assert done.returncode == 1
    assert re.search(r"^::error .*file=train\.py,.*line=4,.*DEV10", done.stdout, re.MULTILINE)
    assert Path("GITHUB_OUTPUT").read_text() == "status=1\n"
    assert re.search(r"DEV10\d", Path("GITHUB_STEP_SUMMARY").read_text())


def test_nothing_found_says_nothing(runner):
    Path("train.py").write_text("import torch\n")
    done = check()
    assert (done.returncode, "::error" in done.stdout) == (0, False)
    assert Path("GITHUB_OUTPUT").read_text() == "status=0\n"
    assert not Path("GITHUB_STEP_SUMMARY").exists()


def test_findings_need_not_fail_the_step(runner):
    Path("train.py").write_text(WRONG)
    done = check(fail_on_findings="false")
    assert (done.returncode, "::error" in done.stdout) == (0, True)
    assert Path("GITHUB_OUTPUT").read_text() == "status=1\n"


def test_what_cannot_be_checked_fails_it_all_the_same(runner):
    assert check(paths="nowhere.py", fail_on_findings="false").returncode == 2


def test_paths_and_options_stand_on_lines_of_their_own(runner):
    Path("my scripts").mkdir()
    Path("my scripts/train.py").write_text(WRONG)
    Path("other.py").write_text(WRONG)
    done = check(paths="my scripts\n\n", args="--select=DEV6\r\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert check(paths="my scripts", args="--select=DEV1").stdout.count("::error") == 1


def test_sarif_is_written_beside(runner):
    Path("train.py").write_text(WRONG)
    assert check(sarif_file="devices.sarif").returncode == 1
    (run,) = json.loads(Path("devices.sarif").read_text())["runs"]
    assert [result["level"] for result in run["results"]] == ["error"]


def test_the_installed_commands_come_first_for_the_next_steps(runner):
    # A Python that only notes what it is asked to do: nothing is installed here.
    fake = runner / "fake"
    fake.write_text('#!/bin/sh\necho "$@" >> asked\nmkdir -p "$3/bin"\ncp "$0" "$3/bin/python"\n')
    fake.chmod(0o755)
    done = step(0, python=str(fake))
    environment = runner / "temp/devicelint"
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("GITHUB_PATH").read_text() == f"{environment}/bin\n"
    asked = Path("asked").read_text().splitlines()
    assert asked[0] == f"-m venv {environment}"
    assert asked[1] == f"-m pip install --quiet --disable-pip-version-check {ROOT}"


def test_the_citation_is_of_this_release():
    import tomli

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["version"] == project["version"]
    assert cited["license"] == project["license"]
