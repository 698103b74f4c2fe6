"""The plugin inside of a real flake8, and on its own where flake8 could not show it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.cli import main
from devicelint.finding import InputError
from devicelint.flake8_plugin import Plugin
from devicelint.linter import lint

pytest.importorskip("flake8")

SCRIPT = """\
import torch
assert torch.cuda.is_available()
x = torch.zeros(3, device="cuda:0")
if x.is_cuda:
    pass;    x.cpu()
device = torch.device("cuda: 0")
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A configuration of the person who runs the tests is none of theirs.
    Path(".flake8").write_text("[flake8]\nselect = DEV\n", encoding="utf-8")


def write(name: str, text: str, encoding: str = "utf-8") -> None:
    Path(name).write_bytes(text.encode(encoding))


def flake8(*words: str, text: str | None = None) -> list[str]:
    """What flake8 prints: it counts columns from one, though its plugins do so from zero."""
    command = [sys.executable, "-m", "flake8", *words]
    done = subprocess.run(
        command, capture_output=True, check=False, encoding="utf-8", input=text, timeout=120
    )
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    return [line.removeprefix("./") for line in done.stdout.splitlines()]


@pytest.fixture
def devicelint(capfd):
    def run(*words: str):
        assert main(["--output-format", "concise", "-q", *words]) in (0, 1)
        out, error = capfd.readouterr()
        assert error == ""
        return out.splitlines()

    return run


def plugin(text: str, filename: str = "a.py") -> list[tuple[int, int, str, type]]:
    return list(Plugin(ast.parse(""), filename, text.splitlines(keepends=True)).run())


def codes(lines: list[str]) -> list[str]:
    return [line.split(":", 3)[3].split()[0] for line in lines]


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT,
        SCRIPT.replace("\n", "\r\n"),
        "\ufeff" + SCRIPT,
        "# größe 日本語\n" + SCRIPT.replace("x = ", "s = 'größe 日本語'; x = "),
        SCRIPT.replace("    ", "\t"),
        "\x0c\n" + SCRIPT,
    ],
    ids=["plain", "crlf", "bom", "wide", "tabs", "form feed"],
)
def test_flake8_and_devicelint_say_the_same_at_the_same_place(text, devicelint):
    write("a.py", text)
    assert flake8("a.py") == devicelint("a.py")
    assert {"DEV104", "DEV406"} <= set(codes(flake8("a.py")))


def test_a_declared_encoding_is_read(devicelint):
    write("a.py", "# coding: latin-1\n# é\n" + SCRIPT, encoding="latin-1")
    assert flake8("a.py") == devicelint("a.py")


def test_columns_count_from_zero():
    violations = plugin("import torch\n\nx = torch.device('cuda: 0')\n")
    line, column, message, kind = next(each for each in violations if "DEV406" in each[2])
    assert (line, kind) == (3, Plugin)
    assert column >= len("x = ")
    assert re.match(r"DEV406 \S", message)


def test_notes_are_left_out(devicelint):
    write("a.py", "import torch\nx = torch.zeros(3)\nreveal_device(x)\n")
    assert flake8("a.py") == []
    assert codes(devicelint("a.py")) == ["DEV000"]


def test_notes_that_were_asked_for_are_told():
    text = "import torch\nx = torch.ones(3).cuda()\n"
    assert plugin(text, "other/a.py") == []
    Path("asking").mkdir()
    write("asking/pyproject.toml", '[tool.devicelint]\nextend-select = ["DEV601"]\n')
    ((_, _, message, _),) = plugin(text, "asking/a.py")
    assert message.startswith("DEV601 ")


def test_flake8_selects_and_ignores():
    write("a.py", SCRIPT)
    assert codes(flake8("--select=DEV406", "a.py")) == ["DEV406"]
    assert "DEV406" not in codes(flake8("--extend-ignore=DEV4", "a.py"))


def test_the_code_is_on_without_any_configuration():
    write("a.py", SCRIPT)
    assert "DEV406" in codes(flake8("--isolated", "a.py"))


def test_noqa_is_of_flake8_and_ignore_is_ours(devicelint):
    marked = "device = torch.device('cuda: 0')  # "
    write("a.py", f"import torch\n{marked}noqa: DEV406\n{marked}noqa\n")
    assert flake8("a.py") == []
    assert codes(flake8("--disable-noqa", "a.py")).count("DEV406") == 2
    assert "DEV406" not in codes(devicelint("a.py"))
    write("a.py", f"import torch\n{marked}devicelint: ignore[DEV406] on purpose\n")
    assert "DEV406" not in codes(flake8("--disable-noqa", "a.py"))


def test_standard_input_is_checked(devicelint):
    write("a.py", SCRIPT)
    expected = [line.removeprefix("a.py") for line in devicelint("a.py")]
    found = flake8("--stdin-display-name", "b.py", "-", text=SCRIPT)
    assert [line.removeprefix("b.py") for line in found] == expected
    assert [line.removeprefix("stdin") for line in flake8("-", text=SCRIPT)] == expected


def test_the_nearest_pyproject_holds():
    Path("sub").mkdir()
    write("sub/pyproject.toml", '[tool.devicelint]\nignore = ["invalid-device-string"]\n')
    for name in ("sub/a.py", "b.py"):
        write(name, "import torch\nd = torch.device('cuda: 0')\n")
    found = flake8(".")
    assert any("DEV406" in line for line in found if line.startswith("b.py"))
    assert not any("DEV406" in line for line in found if line.startswith("sub"))


def test_an_excluded_file_is_passed_over():
    write("pyproject.toml", '[tool.devicelint]\nexclude = ["old"]\n')
    Path("old").mkdir()
    write("old/a.py", SCRIPT)
    assert flake8(".") == []


def test_a_broken_pyproject_is_one_finding_of_each_file_with_torch():
    write("pyproject.toml", "[tool.devicelint]\nselct = []\n")
    write("a.py", SCRIPT)
    write("b.py", "import os\n")
    (line,) = flake8(".")
    assert re.match(r"a\.py:1:1: DEV900 .*pyproject\.toml:2:1: unknown key", line)


def test_several_processes_do(tmp_path):
    for number in range(8):
        write(f"{number}.py", SCRIPT)
    assert sorted(flake8("-j", "2", ".")) == sorted(flake8("-j", "1", "."))


def test_an_internal_error_is_one_finding(monkeypatch):
    def failing(*arguments, **options):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(lint, "check", failing)
    ((line, column, message, _),) = plugin(SCRIPT)
    assert (line, column) == (1, 0)
    assert re.fullmatch(r"DEV900 internal-error: RuntimeError: .* at \S+:\d+ \(.*\)", message)


def test_a_file_that_cannot_be_checked_is_one_finding_at_its_place(monkeypatch):
    def refusing(*arguments, **options):
        raise InputError("a.py", 3, 4, "invalid syntax")

    monkeypatch.setattr(lint, "check", refusing)
    assert plugin(SCRIPT) == [(3, 4, "DEV900 invalid syntax", Plugin)]


def test_a_file_without_torch_costs_nothing():
    code = (
        "import sys, ast; from devicelint.flake8_plugin import Plugin;"
        "list(Plugin(ast.parse(''), 'a.py', ['import os\\n']).run());"
        "heavy = {'libcst', 'rich', 'tomllib', 'tomli', 'difflib', 'devicelint.linter.lint',"
        " 'devicelint.rules', 'devicelint.interpreter', 'devicelint.config'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"


def test_what_a_baseline_knows_is_kept_back(devicelint):
    write("train.py", SCRIPT)
    write("devicelint.toml", 'baseline = "known.json"\n')
    assert main(["--write-baseline", "known.json", "-q", "train.py"]) == 0
    assert flake8("train.py") == []
    write("train.py", SCRIPT.replace("if x.is_cuda", "x.cpu()\nif x.is_cuda"))
    (new,) = flake8("train.py")
    assert new.startswith("train.py:4:1: DEV104 ")
    Path("known.json").unlink()
    told = "there is no such baseline; --write-baseline"
    (problem,) = flake8("train.py")
    assert problem.startswith("train.py:1:1: DEV900 ")
    assert told in problem
