"""Which files and rules a run takes: habits that people bring from other linters."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.cli import main

WRONG = "import torch\n\nx = torch.zeros(2).cuda()\ny = x + torch.zeros(2)\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capsys):
    """Runs devicelint: the exit status, standard output and standard error."""

    def run_it(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        return status, *capsys.readouterr()

    return run_it


@pytest.fixture
def files(tmp_path):
    """Writes files, and returns those that `--show-files` lists."""

    def write(*names: str, **texts: str) -> None:
        for name in names:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(WRONG, "utf-8")
        for name, text in texts.items():
            Path(f".{name}" if name == "gitignore" else name).write_text(text, "utf-8")

    return write


def listed(run, *words: str) -> list[str]:
    status, out, err = run("--show-files", *words)
    assert (status, err) == (0, "")
    return [line.replace("\\", "/") for line in out.splitlines()]


def test_without_a_path_the_current_folder_is_checked(run, files):
    files("train.py", "models/net.py")
    status, out, _ = run()
    assert status == 1
    assert "train.py:4:9: error DEV103" in out
    assert "net.py:4:9: error DEV103" in out


def test_a_folder_without_python_says_so(run):
    Path("empty").mkdir()
    warning = "warning: no Python files or notebooks found in empty\n"
    assert run("empty") == (0, "", warning)
    assert run("--quiet", "empty") == (0, "", "")


def test_files_are_listed_and_not_checked(run, files):
    files("train.py", "models/net.py")
    assert listed(run) == ["models/net.py", "train.py"]
    status, out, err = run("--show-files", "missing", "train.py")
    assert (status, out) == (2, "train.py\n")
    assert err.startswith("missing:1:1: no such file or directory")


def test_patterns_of_the_command_line_exclude(run, files):
    files("train.py", "old/net.py", "new/net.py")
    Path("devicelint.toml").write_text('exclude = ["old"]\n', "utf-8")
    assert listed(run) == ["new/net.py", "train.py"]
    assert listed(run, "--exclude", "new,tr*.py") == ["old/net.py"]
    assert listed(run, "--extend-exclude", "new") == ["train.py"]
    assert listed(run, "--extend-exclude", "new", "new") == ["new/net.py"]
    assert listed(run, "--extend-exclude", "train.py", "train.py") == ["train.py"]
    assert listed(run, "--extend-exclude", "train.py", "--force-exclude", "train.py") == []


def test_extend_exclude_of_the_settings_adds(run, files):
    files("train.py", "old/net.py", "new/net.py")
    Path("base.toml").write_text('extend-exclude = ["old"]\n', "utf-8")
    text = 'extend = "base.toml"\nextend-exclude = ["new"]\n'
    Path("devicelint.toml").write_text(text, "utf-8")
    assert listed(run) == ["train.py"]


class TestGitignore:
    @pytest.fixture(autouse=True)
    def _repository(self, files):
        Path(".git/info").mkdir(parents=True)
        files("train.py", "out/gen.py", "src/net.py", "src/gen/a.py", "src/gen/kept.py")
        files(gitignore="/out/\n**/gen/*\n!kept.py\n")

    def test_what_git_ignores_is_passed_over(self, run):
        assert listed(run) == ["src/gen/kept.py", "src/net.py", "train.py"]
        everything = listed(run, "--no-respect-gitignore")
        assert {"out/gen.py", "src/gen/a.py"} <= set(everything)
        Path("devicelint.toml").write_text("respect-gitignore = false\n", "utf-8")
        assert listed(run) == everything

    def test_the_nearest_file_decides(self, run, files):
        Path("src/.gitignore").write_text("!a.py\nnet.py\n", "utf-8")
        assert listed(run) == ["src/gen/a.py", "src/gen/kept.py", "train.py"]
        Path(".git/info/exclude").write_text("train.py\n", "utf-8")
        assert listed(run) == ["src/gen/a.py", "src/gen/kept.py"]

    def test_what_is_named_is_checked(self, run):
        assert listed(run, "out/gen.py") == ["out/gen.py"]
        assert listed(run, "out") == ["out/gen.py"]
        assert listed(run, "--force-exclude", "out/gen.py", "out", "train.py") == ["train.py"]

    def test_a_line_that_makes_no_sense_is_passed_over(self, run):
        Path(".gitignore").write_text("!\ntrain.py\n", "utf-8")
        assert "train.py" not in listed(run)

    def test_a_file_outside_of_a_repository_means_nothing(self, run):
        Path(".git/info").rmdir()
        Path(".git").rmdir()
        assert "out/gen.py" in listed(run)


def test_all_selects_every_rule_and_is_the_least_close(run, files):
    files("train.py")
    codes = [line.split()[1] for line in run("--select", "ALL", "--statistics")[1].splitlines()]
    assert codes == ["DEV103", "DEV409", "DEV601"]
    assert run("--select", "ALL", "--ignore", "DEV1,DEV4", "--statistics")[1].split()[1] == "DEV601"
    assert run("--select", "DEV103", "--ignore", "ALL", "--statistics")[1].split()[1] == "DEV103"
    assert run("--ignore", "ALL")[0] == 0


def test_extend_ignore_adds_to_what_the_settings_ignore(run, files):
    files("train.py")
    Path("devicelint.toml").write_text('ignore = ["DEV409"]\n', "utf-8")
    assert run("--extend-ignore", "DEV103")[0] == 0
    assert run()[0] == 1


def test_settings_are_shown_with_what_the_command_line_changes(run, files):
    files("train.py")
    out = run("--show-settings", "--ignore", "DEV6", "train.py")[1]
    assert out == run("config", "--ignore", "DEV6", "train.py")[1]
    assert "--ignore" in out


@pytest.mark.parametrize(("when", "painted"), [("always", True), ("never", False)])
def test_colour_is_as_asked_for(run, files, monkeypatch, when, painted):
    files("train.py")
    monkeypatch.setenv("NO_COLOR" if painted else "FORCE_COLOR", "1")
    assert ("\x1b[" in run("--color", when, "train.py")[1]) is painted
    assert "\x1b[" in run("train.py")[1] or painted


@pytest.mark.parametrize("option", ["--output-file", "--report"])
def test_a_report_needs_its_folder(run, files, option):
    files("train.py")
    given = "json=no/found.json" if option == "--report" else "no/found.json"
    assert run(option, given, "train.py") == (
        2,
        "",
        f"devicelint: {option} no/found.json: there is no folder no\n",
    )
    assert not Path("no").exists()


def test_a_release_of_torch_that_nobody_knows_is_refused(run):
    status, _, err = run("--torch-version", "9.9", "train.py")
    assert status == 2
    assert err == (
        'devicelint: argument --torch-version: torch "9.9" is unknown: expected a release from '
        "1.0 to 2.13\n"
    )


MADE_APART = """
import random
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(4, 2).to(device)


def act(state):
    if random.random() > 0.5:
        return net(state)
    return torch.zeros(1, 2)


act(torch.rand(1, 4, device=device))
"""


def test_a_rule_in_preview_needs_to_be_allowed(run):
    Path("train.py").write_text(MADE_APART, "utf-8")
    assert run("--select", "ALL", "--statistics")[1] == ""
    status, out, err = run("--select", "made-apart", "train.py")
    assert (status, out) == (0, "")
    assert err.startswith("warning: DEV705 made-apart is in preview, and is not checked without")
    status, out, err = run("--select", "made-apart", "--preview", "train.py")
    assert (status, err.count("warning:")) == (1, 0)
    assert "DEV705" in out
    Path("devicelint.toml").write_text('select = ["DEV7"]\npreview = true\n', "utf-8")
    assert "DEV705" in run("train.py")[1]
