"""The tutorial, followed to the letter.

A `Reader` saves, changes and types what `docs/tutorial.md` says, in this order, in an empty folder,
with nothing installed but what the page installs. What is printed has to be what the page shows:
`pytest --update` writes it anew.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import yaml

from tests.docs.followed.environment import ROOT, is_pip_install
from tests.docs.followed.page import Command, File, Quotation, rewritten, shows, steps
from tests.docs.followed.reader import Reader, normal
from tests.programs import program

PAGE = ROOT / "docs" / "tutorial.md"
TEXT = PAGE.read_text(encoding="utf-8")
STEPS = list(steps(TEXT))
COMMANDS = [step for step in STEPS if isinstance(step, Command)]
FILES = [step for step in STEPS if isinstance(step, File)]
WORKFLOW = ".github/workflows/devices.yml"
ERROR = (
    "RuntimeError: Expected all tensors to be on the same device, "
    "but found at least two devices, cuda:0 and cpu!\n"
)


@pytest.fixture(scope="module")
def reader(tmp_path_factory, request):
    for each in ("bash", "git"):
        program(each)
    reader = Reader(tmp_path_factory.mktemp("tutorial"))
    for step in STEPS:
        reader.follow(step)
    if request.config.getoption("update"):
        said = {command: reader.said[command.line] for command in COMMANDS}
        differs = {
            command: printed
            for command, printed in said.items()
            if not shows(normal(command.shown), normal(printed))
        }
        PAGE.write_text(rewritten(TEXT, differs), encoding="utf-8")
    return reader


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.typed)
def test_a_command_prints_what_is_shown(reader, command, request):
    said = reader.said[command.line]
    if not request.config.getoption("update") and not shows(normal(command.shown), normal(said)):
        assert said == command.shown, f"docs/tutorial.md:{command.line}"


def test_no_command_is_misunderstood(reader):
    assert set(reader.status.values()) == {0, 1}


def test_each_quotation_is_printed_by_some_command(reader):
    quotations = [step.text for step in STEPS if isinstance(step, Quotation)]
    assert [text for text in quotations if text not in "".join(reader.said.values())] == []


def test_the_workflow_passes_with_what_it_installs(reader, tmp_path):
    workflow = yaml.safe_load((reader.here / WORKFLOW).read_text(encoding="utf-8"))
    server = Reader(tmp_path)
    server.here = reader.here
    commands = [step["run"] for step in workflow["jobs"]["devices"]["steps"] if "run" in step]
    assert sum(map(is_pip_install, commands)) == 2
    assert [server.type(command)[0] for command in commands] == [0] * 4


def test_the_workflow_is_what_github_reads(tmp_path):
    [file] = [step for step in FILES if step.name == WORKFLOW]
    path = tmp_path / "devices.yml"
    path.write_text(file.text, encoding="utf-8")
    check = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-workflows",
    ]
    done = subprocess.run([*check, str(path)], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout


def test_it_begins_with_the_error_a_script_and_its_check():
    error, install, script, check, *_ = STEPS
    assert isinstance(error, Quotation)
    assert error.text == ERROR
    assert isinstance(install, Command)
    assert is_pip_install(install.typed)
    assert isinstance(script, File)
    assert (script.order, script.name) == ("save", "train.py")
    assert isinstance(check, Command)
    assert check.typed == "devicelint train.py"


def test_readers_see_no_notation_of_tests():
    notation = r"# (?:error|warning|note|raises|revealed)\b|reveal_device|^```(?:py|diff) "
    assert re.findall(notation, TEXT, re.MULTILINE) == []
