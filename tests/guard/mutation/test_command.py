"""`python -m runtime_guard mutate` and `prove`: what they print and answer, and their status."""

import json
from pathlib import Path

import pytest

from runtime_guard.launcher.cli import main
from runtime_guard.mutation import command


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("print(1)\n")
    return tmp_path


@pytest.mark.parametrize("name", ["mutate", "prove"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "there is no script to run; --help shows how to name one"),
        ("nowhere.py", "nowhere.py: No such file or directory"),
        (".", ".: Is a directory"),
        ("broken.py", "broken.py:2: '(' was never closed"),
        ("--steps 0 train.py", "argument --steps: '0' is not a whole number, 1 or more"),
        ("--jobs x train.py", "argument --jobs: 'x' is not a whole number, 1 or more"),
        ("--timeout 0 train.py", "argument --timeout: '0' is not a number of seconds, above 0"),
        ("--timeout nan train.py", "argument --timeout: 'nan' is not a number of seconds, above 0"),
        ("--json a/b train.py", "--json is 'a/b': there is no folder '{folder}/a'"),
        ("--json broken.py train.py", "--json is 'broken.py': it would overwrite a program"),
        ("--json link train", "--json is 'link': it would overwrite the script"),
        ("--step 3 train.py", "unrecognized arguments: --step"),
    ],
)
def test_what_makes_no_sense_is_answered_in_one_line(name, line, message, capsys, folder):
    Path("broken.py").write_text("x = 1\ny = (\n")
    Path("train").write_text("print(1)\n")
    Path("link").symlink_to("train")
    assert main([name, *line.split()]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error == f"runtime_guard {name}: {message.format(folder=folder)}\n"


@pytest.mark.parametrize("data", [b"x = 1\0", b"# coding: nonsense\n", b"x = '\xff'\n"])
def test_a_file_that_is_no_text_is_answered_in_one_line(data, capsys):
    Path("train.py").write_bytes(data)
    assert main(["mutate", "train.py"]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("runtime_guard mutate: train.py")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mutate --virtual-gpu 0 train.py", "'0' is not a whole number, 1 or more"),
        ("prove --before nowhere.py train.py", "nowhere.py: No such file or directory"),
        ("prove --after broken.txt train.py", "train.py:1: "),
    ],
)
def test_what_makes_no_sense_to_one_of_them(line, message, capsys):
    Path("broken.txt").write_text("1 +\n")
    assert main(line.split()) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mutate", "prove"])
def test_help(name, capsys):
    with pytest.raises(SystemExit) as leaving:
        main([name, "--help"])
    assert not leaving.value.code
    assert "exit status: 0 " in capsys.readouterr().out


@pytest.mark.parametrize("name", ["mutate", "prove"])
def test_without_torch_it_says_what_to_install(name, monkeypatch, capsys):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert main([name, "train.py"]) == 2
    expected = f"runtime_guard {name}: PyTorch is not installed: pip install 'devicelint[guard]'\n"
    assert capsys.readouterr().err == expected


def test_a_script_that_does_not_pass_as_it_is(capsys):
    Path("train.py").write_text("import sys\nx.cuda()\n")
    assert main(["mutate", "--json", "-", "train.py", "--lr"]) == 2
    out, error = capsys.readouterr()
    assert error == (
        "runtime_guard mutate: train.py does not pass as it is, on a virtual machine with 1 GPU: "
        "line 2: NameError: name 'x' is not defined\n"
    )
    document = json.loads(out)
    assert document["arguments"] == ["--lr"]
    assert document["whole"]["ending"] == "failed"
    assert document["moves"] == []


def test_a_script_that_needs_no_moves(capsys):
    Path("train.py").write_text("print(1)\n")
    assert main(["mutate", "train.py"]) == 0
    assert capsys.readouterr().out.endswith("\nNo moves between devices\n")


def test_a_change_is_shown_on_each_machine(capsys):
    """The texts need no torch, so that this takes no time."""
    Path("before.txt").write_text("import sys\nsys.exit('no luck')\n")
    Path("after.txt").write_text("import sys\nassert sys.argv[1:] == ['--lr', '1']\n")
    words = ["--before", "before.txt", "--after", "after.txt", "train.py", "--lr", "1"]
    assert main(["prove", *words]) == 0
    out, error = capsys.readouterr()
    assert error == ""
    line = " 2 GPUs      no luck     passes; no optimizer made a step"
    assert line in out.splitlines()


def test_a_script_that_fails_is_not_proven(capsys):
    Path("train.py").write_text("import sys\nsys.exit('no luck')\n")
    assert main(["prove", "--json", "-", "train.py"]) == 1
    out, error = capsys.readouterr()
    assert json.loads(out)["problems"] == [
        "CPU only: the script fails",
        "1 GPU: the script fails",
        "2 GPUs: the script fails",
    ]
    assert error.splitlines()[0] == "runtime_guard prove: CPU only: the script fails"
