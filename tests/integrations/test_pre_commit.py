"""The hooks that pre-commit offers, run by pre-commit itself on a repository of their own.

pre-commit would build an environment for `language: python`; here the hooks run in this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pre_commit.clientlib import load_manifest

MANIFEST = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
WRONG = """\
import torch
assert torch.cuda.is_available()
model = torch.nn.Linear(4, 2).cuda()
batch = torch.randn(8, 4)
print(model(batch))
"""
RIGHT = WRONG.replace("(batch)", "(batch.cuda())")


def git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    # Without `language`, nothing is installed; all else is as the manifest has it.
    hooks = [{**hook, "language": "system"} for hook in yaml.safe_load(MANIFEST.read_text())]
    folder = tmp_path / "a repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(
        "PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    Path("pyproject.toml").write_text('[tool.devicelint]\nexclude = ["third_party"]\n')
    Path("notes.txt").write_text("import torch\n")
    Path("third_party").mkdir()
    Path("third_party/bad.py").write_text(WRONG)
    git("init", "-q")
    return folder


def hook(name: str, *words: str) -> tuple[int, str]:
    git("add", "-A")
    command = [sys.executable, "-m", "pre_commit", "run", name, "--all-files", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_manifest_is_one_that_pre_commit_reads():
    assert [entry["id"] for entry in load_manifest(MANIFEST)] == ["devicelint", "devicelint-fix"]


def test_the_hook_reports_what_is_wrong(repository):
    Path("a train.py").write_text(WRONG)
    status, said = hook("devicelint")
    assert status == 1
    assert "a train.py:4:9: error DEV103 created-on-cpu" in said
    assert "third_party" not in said
    assert Path("a train.py").read_text() == WRONG


def test_the_hook_passes_what_is_right(repository):
    Path("train.py").write_text(RIGHT)
    status, said = hook("devicelint")
    assert (status, "Passed" in said) == (0, True)


def test_the_hook_with_fixes_fixes_it_and_passes_the_next_time(repository):
    Path("train.py").write_text(WRONG)
    status, said = hook("devicelint-fix")
    assert (status, "files were modified by this hook" in said) == (1, True)
    assert hook("devicelint")[0] == 0
    assert Path("third_party/bad.py").read_text() == WRONG
