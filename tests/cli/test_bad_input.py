"""Whatever comes in: one clear line, the right status, the other files still checked."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.cli import main

SOUND = 'import torch\n\ndevice = torch.device("cuda: 0")\n'
"""DEV406, so that it shows whether the other files were checked."""

Told = tuple[int, str, list[str]]
"""Exit status, standard output, and the lines of standard error."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sound.py").write_text(SOUND, encoding="utf-8")
    return tmp_path


@pytest.fixture
def devicelint(folder, capfd):
    def run(*words: str) -> Told:
        status = main([*words, "--output-format", "concise"])
        out, error = capfd.readouterr()
        return status, out, error.splitlines()

    return run


def in_its_own_process(*words: str) -> Told:
    """For what may exhaust the stack of the process."""
    command = [sys.executable, "-m", "devicelint", *words, "--output-format", "concise"]
    run = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", timeout=120)
    assert "Traceback" not in run.stderr
    assert run.returncode >= 0, f"killed by signal {-run.returncode}"
    return run.returncode, run.stdout, run.stderr.splitlines()


@pytest.fixture
def problem(devicelint):
    """The one line about what cannot be checked, where the sound file was checked all the same."""

    def line_of(*words: str):
        status, found, told = devicelint(*words, "sound.py", "--select", "DEV406")
        assert status == 2
        assert re.fullmatch(r"sound\.py:3:\d+: DEV406 .*\n", found)
        line, summary = told
        assert summary.startswith("Found 1 ")
        return line

    return line_of


@pytest.fixture
def checked(devicelint):
    """What is found in input that looks bad and is not."""

    def found_in(*words: str):
        status, found, told = devicelint(*words, "sound.py", "--select", "DEV406")
        assert status == 1
        assert [line for line in told if not line.startswith("Found ")] == []
        return found

    return found_in


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("import torch\nx = torch.zeros(3\ny = 1\n", r"broken\.py:[23]:\d+: "),
        ("import torch\nif torch:\nx = 1\n", r"broken\.py:3:\d+: "),
        ("import torch\n  x = 1\n", r"broken\.py:2:\d+: "),
        ("import torch\nx = 'abc\n", r"broken\.py:2:\d+: "),
        ("import torch\nx = $\n", r"broken\.py:2:\d+: "),
    ],
)
def test_a_syntax_error_is_told_with_its_place(problem, text, place):
    Path("broken.py").write_text(text, encoding="utf-8")
    assert re.match(place + "[^ ]", problem("broken.py"))


def test_python_2_is_a_syntax_error(problem):
    text = "import torch\nx = torch.zeros(3)\nprint x.cuda()\n"
    Path("old.py").write_text(text, encoding="utf-8")
    assert re.match(r"old\.py:3:\d+: .*", problem("old.py"))


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x01\x00torch", b"import torch\n\x00\n"])
def test_a_binary_is_told(problem, data):
    Path("binary.py").write_bytes(data)
    assert problem("binary.py").startswith("binary.py:")


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b"\r\n\x0c", b"# torch"])
def test_an_empty_file_is_fine(checked, data):
    Path("empty.py").write_bytes(data)
    assert "empty.py" not in checked("empty.py")


def test_a_file_of_20_000_lines_is_checked(checked):
    block = "x = torch.zeros(3)\ny = x + 1\nif y.sum():\n    x = y\n"
    Path("long.py").write_text(
        "import torch\n" + block * 5000 + 'torch.device("cuda: 0")\n', encoding="utf-8"
    )
    assert "long.py:20002:" in checked("long.py")


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 1000 + "1" + ")" * 1000,
        "[" * 1000 + "]" * 1000,
        "f(" * 1000 + "1" + ")" * 1000,
        "not " * 1000 + "x",
        "x" + ".y" * 1000,
        "x" + "[0]" * 1000,
        "x" + "()" * 1000,
        "1" + " + 1" * 1000,
        "lambda: " * 1000 + "1",
        "{1: " * 1000 + "1" + "}" * 1000,
        "1 if x else " * 1000 + "1",
    ],
    ids=lambda expression: expression[:4],
)
def test_an_expression_of_1000_levels_is_checked_or_refused(folder, expression):
    text = f"import torch\nx = torch.zeros(3)\ny = {expression}\n"
    Path("deep.py").write_text(text, encoding="utf-8")
    status, found, told = in_its_own_process("deep.py", "sound.py", "--select", "DEV406")
    assert "sound.py:3:" in found
    problems = [line for line in told if not line.startswith("Found ")]
    assert status == 1 + len(problems)
    assert all(re.match(r"deep\.py:\d+:\d+: ", line) for line in problems)
    assert not any("DEV900" in line for line in problems)


def test_statements_nested_too_deeply_are_refused(folder):
    levels = 150
    text = "import torch\n" + "".join(f"{' ' * n}if torch:\n" for n in range(levels))
    Path("deep.py").write_text(f"{text}{' ' * levels}pass\n", encoding="utf-8")
    status, found, told = in_its_own_process("deep.py", "sound.py", "--select", "DEV406")
    assert "sound.py:3:" in found
    assert status in (1, 2)
    assert not any("DEV900" in line for line in told)


def test_a_file_that_is_not_utf_8_is_told_with_the_place(problem):
    Path("latin.py").write_bytes(b"import torch\ns = '\xe9'\n")
    assert re.match(r"latin\.py:2:6: ", problem("latin.py"))


def test_a_declared_encoding_is_read(checked):
    text = "# coding: latin-1\nimport torch\ns = 'é'; d = torch.device('cuda: 0')\n"
    Path("latin.py").write_bytes(text.encode("latin-1"))
    assert "latin.py:3:" in checked("latin.py")


@pytest.mark.parametrize("name", ["klingon", "rot13", "hex"])
def test_an_encoding_that_is_none_is_told(problem, name):
    Path("odd.py").write_text(f"# coding: {name}\nimport torch\n", encoding="utf-8")
    line = problem("odd.py")
    assert line.startswith("odd.py:1:")
    assert name in line


def test_a_missing_path_is_told(problem):
    assert problem("missing.py") == "missing.py:1:1: no such file or directory"
    assert problem("no/such/folder") == "no/such/folder:1:1: no such file or directory"


def test_a_link_to_itself_is_told(problem):
    Path("loop.py").symlink_to("loop.py")
    assert re.match(r"loop\.py:1:1: cannot be read: .*", problem("loop.py"))


def test_links_between_folders_do_not_go_round(devicelint):
    Path("a").mkdir()
    Path("a/b").symlink_to("..", target_is_directory=True)
    Path("a/c.py").symlink_to("c.py")
    status, found, told = devicelint(".", "--select", "DEV406")
    assert status == 2
    assert found.count("DEV406") == 1
    assert [line.split(" ")[0] for line in told] == ["a/c.py:1:1:", "Found"]


def test_a_folder_without_permission_is_told(folder, monkeypatch, capfd):
    # In this process, with a refusing scandir: nothing refuses root.
    Path("closed").mkdir()
    scandir = os.scandir

    def refusing(path):
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    for folders in ([".", "-q"], ["closed", "sound.py", "-q"]):
        status = main([*folders, "--select", "DEV406", "--output-format", "concise"])
        out, error = capfd.readouterr()
        assert status == 2
        assert out.startswith("sound.py:3:")
        assert error == "closed:1:1: cannot be read: Permission denied\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(problem):
    os.mkfifo("pipe.py")
    assert problem("pipe.py") == "pipe.py:1:1: is not a regular file"


def test_an_unknown_option_is_told(devicelint):
    status, found, told = devicelint("sound.py", "--fixx")
    assert (status, found) == (2, "")
    assert told == ['devicelint: there is no option "--fixx"; did you mean "--fix"?']


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.devicelint\n", "pyproject.toml:1:"),
        ("[tool.devicelint]\nselct = []\n", "pyproject.toml:2:1: unknown key "),
        ('[tool.devicelint]\nignore = ["DEV999"]\n', "pyproject.toml:2:"),
        ("[tool.devicelint]\nselect = 3\n", "pyproject.toml:2:1: "),
        ("tool = 3\n", "pyproject.toml:1:1: "),
        ("[tool]\ndevicelint = 3\n", "pyproject.toml:2:1: "),
    ],
)
def test_a_broken_pyproject_is_told_once_and_files_elsewhere_are_checked(problem, text, line):
    Path("other").mkdir()
    Path("other/pyproject.toml").write_text(text, encoding="utf-8")
    for name in ("a.py", "b.py"):
        Path("other", name).write_text(SOUND, encoding="utf-8")
    assert f"other{os.sep}{line}" in problem("other", "other/a.py")


def test_a_pyproject_that_is_not_utf_8_is_told(problem):
    Path("other").mkdir()
    Path("other/pyproject.toml").write_bytes(b'[tool.devicelint]\n# \xe9\nselect = ["DEV1"]\n')
    Path("other/a.py").write_text(SOUND, encoding="utf-8")
    assert f"other{os.sep}pyproject.toml:2:3: is not UTF-8" in problem("other")


def test_all_of_it_at_once(devicelint):
    Path("syntax.py").write_text("import torch\nx = (\n", encoding="utf-8")
    Path("old.py").write_text("import torch\nprint 'torch'\n", encoding="utf-8")
    Path("binary.py").write_bytes(b"\x00\x01torch")
    Path("latin.py").write_bytes(b"import torch  # \xe9\n")
    Path("empty.py").write_bytes(b"")
    Path("loop.py").symlink_to("loop.py")
    status, _, told = devicelint(".", "missing.py", "--fix", "--unsafe-fixes")
    assert status == 2
    assert [line.split(":")[0] for line in told if ": fixed " not in line][:6] == [
        "binary.py",
        "latin.py",
        "loop.py",
        "old.py",
        "syntax.py",
        "missing.py",
    ]
    assert "cuda: 0" not in Path("sound.py").read_text(encoding="utf-8")
