"""What earlier runs found is believed for as long as nothing has changed on which it rests."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.cache import DEFAULT_NAME, Cache
from devicelint.cli import main
from devicelint.interpreter.engine.budget import OutOfTime
from devicelint.linter import lint, walks
from devicelint.text.hashing import digest
from tests.cache.conftest import CHECK, write

SCRIPT = """\
import torch
from helper import make
assert torch.cuda.is_available()
model = torch.nn.Linear(3, 3).to("cuda")
model(make())
"""
ON_THE_CPU = "import torch\n\n\ndef make():\n    return torch.ones(3)\n"
ON_CUDA = ON_THE_CPU.replace("ones(3)", 'ones(3, device="cuda")')
FAR = """\
import torch
from far import make
assert torch.cuda.is_available()
torch.ones(3).cuda() + make()
"""
STUB = """\
class far:
    def make() -> Ranked[{}]: ...
"""
KEEPS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.layer, self.scale = torch.nn.Linear(3, 3), scale

    def forward(self, x):
        return self.layer(x) * self.scale
"""
LEADS = """\
import torch
from model import Net
for _ in range(2):
    Net(torch.ones(3)).to("{0}")(torch.ones(3, device="{0}"))
"""


def test_a_second_run_checks_nothing_and_says_the_same(run):
    write(train=SCRIPT, helper=ON_THE_CPU)
    first, told = run()
    assert first == ["helper.py", "train.py"]
    assert "train.py:5:7: DEV101" in told
    assert run() == ([], told)


def test_what_an_import_leads_to_is_part_of_it(run):
    write(train=SCRIPT, helper=ON_THE_CPU, other="import torch\n")
    run()
    write(helper=ON_CUDA)
    assert run() == (["helper.py", "train.py"], "")
    assert run() == ([], "")


def test_so_is_what_the_imported_file_imports(run):
    write(train=SCRIPT, helper="from deep import make\n", deep=ON_CUDA)
    assert run()[1] == ""
    write(deep=ON_THE_CPU)
    again, told = run()
    assert again == ["deep.py", "helper.py", "train.py"]
    assert "DEV101" in told


def test_so_is_a_program_that_leads_to_a_file(run):
    write(model=KEEPS, train=LEADS.format("cpu"))
    assert run()[1] == ""
    write(train=LEADS.format("cuda"))
    again, told = run()
    assert again == ["model.py", "train.py"]
    assert "model.py:7:21: DEV106" in told
    assert run() == ([], told)


def test_so_is_a_file_that_was_not_there(run):
    write(train=SCRIPT)
    assert run() == (["train.py"], "")
    assert run() == ([], "")
    write(helper=ON_THE_CPU)
    again, told = run()
    assert again == ["helper.py", "train.py"]
    assert "DEV101" in told
    Path("helper.py").unlink()
    assert run() == (["train.py"], "")


def test_a_package_takes_the_place_of_a_file(run):
    write(train=SCRIPT, helper=ON_CUDA)
    run()
    Path("helper").mkdir()
    write(**{"helper/__init__": ON_THE_CPU})
    again, told = run()
    assert again == ["helper/__init__.py", "train.py"]
    assert "DEV101" in told


def test_files_that_import_each_other_rest_on_both(run):
    write(
        train=SCRIPT,
        helper=f"import circle\n{ON_THE_CPU}",
        circle="import torch\nimport helper\nimport train\n",
    )
    first, told = run()
    assert first == ["circle.py", "helper.py", "train.py"]
    assert run() == ([], told)
    write(circle="import torch\nimport helper\n")
    assert run()[0] == first


def test_another_order_of_runs_comes_to_rest(run):
    write(train=SCRIPT, helper=f"import late\n{ON_THE_CPU}", late=ON_THE_CPU)
    command = CHECK[:-1]
    for path in ("train.py", "helper.py", "late.py"):
        run(*command, path)
    run()
    assert run()[0] == []


def test_settings_are_part_of_it(run):
    write(train=SCRIPT, helper=ON_THE_CPU)
    _, told = run()
    assert run(*CHECK, "--select", "DEV4")[0] == ["helper.py", "train.py"]
    assert run() == ([], told)
    Path("pyproject.toml").write_text('[tool.devicelint]\nignore = ["DEV1"]\n')
    assert run() == (["helper.py", "train.py"], "")


def test_so_are_the_rules_of_plug_ins(run, monkeypatch):
    write(train=SCRIPT, helper=ON_THE_CPU)
    run()
    monkeypatch.setattr("devicelint.cli.run.checking.plugged_in", lambda: "house rules 2.0")
    assert run()[0] == ["helper.py", "train.py"]
    assert run()[0] == []


def test_a_stub_is_part_of_it(run):
    write(train=FAR)
    Path("pyproject.toml").write_text("[tool.devicelint]\n")
    assert run() == (["train.py"], "")
    Path("devicelint.pyi").write_text(STUB.format("CPU"))
    again, told = run()
    assert again == ["train.py"]
    assert "DEV102" in told
    Path("devicelint.pyi").write_text(STUB.format("D"))
    assert run() == (["train.py"], "")


def test_a_file_that_cannot_be_parsed_is_remembered_as_such(run, capsys):
    write(broken="import torch\nx = (\n")
    assert main(["broken.py"]) == 2
    told = capsys.readouterr().err
    assert "broken.py:2:5: syntax error" in told
    assert main(["broken.py"]) == 2
    assert capsys.readouterr().err == told
    assert run("broken.py")[0] == []


def test_a_file_that_was_given_up_is_not_remembered(run, monkeypatch):
    def slow(*arguments, **options):
        raise OutOfTime("it takes more than 60 seconds")

    write(slow="import torch\n")
    with monkeypatch.context() as patched:
        patched.setattr(walks, "explore", slow)
        assert main(["slow.py"]) == 2
    assert run("slow.py")[0] == ["slow.py"]


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"{}\n", b"cut"])
def test_what_is_damaged_is_not_believed(run, damage):
    write(train=SCRIPT, helper=ON_THE_CPU)
    _, told = run()
    for path in Path(DEFAULT_NAME).rglob("*.json"):
        path.write_bytes(path.read_bytes()[:-10] if damage == b"cut" else damage)
    assert run() == (["helper.py", "train.py"], told)
    assert run() == ([], told)


def test_what_somebody_else_has_written_is_not_believed(run):
    """A cache may come with a repository: what has a right checksum may still be anything."""
    write(train=SCRIPT, helper=ON_THE_CPU)
    _, told = run()
    (path,) = (one for one in Path(DEFAULT_NAME).rglob("*.json") if '"folder"' in one.read_text())
    written = path.read_text().partition("\n")[2]
    assert json.loads(written)["folder"] == str(Path.cwd())
    for text in (
        written.replace('"Finding"', '"Popen"'),
        written.replace('"Span"', '"Edit"'),
        written.replace('"Severity"', '"Safety"'),
        written.replace('"error"', '"terror"'),
        re.sub(r'"results":.*', "", written),
        '{"folder":1}',
        "[" * 100_000,
        json.dumps({"folder": str(Path.cwd()), "files": {"train.py": [1, [["x", []]], {}]}}),
    ):
        content = text.encode()
        path.write_bytes(digest(content).encode() + b"\n" + content)
        assert run()[1] == told


def test_the_folder_is_marked_as_a_cache_that_nobody_commits():
    write(train=SCRIPT)
    main(["-q", "train.py"])
    tag = Path(DEFAULT_NAME, "CACHEDIR.TAG").read_text()
    assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert Path(DEFAULT_NAME, ".gitignore").read_text().endswith("\n*\n")


def test_no_cache_reads_and_writes_none(run):
    write(train=SCRIPT, helper=ON_THE_CPU)
    run(*CHECK, "--no-cache")
    assert not Path(DEFAULT_NAME).exists()
    run()
    assert run(*CHECK, "--no-cache")[0] == ["helper.py", "train.py"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_no_cache_asks_nothing_twice(run, monkeypatch, jobs):
    def refuse(*arguments):
        raise AssertionError("nobody asks for what is found")

    write(train=SCRIPT, helper=ON_THE_CPU, broken="import torch\nx = (\n")
    for name in ("learn", "settle", "save"):
        monkeypatch.setattr(Cache, name, refuse)
    monkeypatch.setattr("devicelint.cli.run.checking.found_data", refuse)
    assert "DEV101" in run(*CHECK, "--no-cache", "--jobs", jobs)[1]


def test_the_folder_can_be_chosen(run):
    write(train=SCRIPT, helper=ON_THE_CPU)
    run(*CHECK, "--cache-dir", "elsewhere")
    assert Path("elsewhere", "CACHEDIR.TAG").exists()
    assert run(*CHECK, "--cache-dir", "elsewhere")[0] == []
    Path("devicelint.toml").write_text('cache-dir = "configured"\n')
    run()
    assert Path("configured", "CACHEDIR.TAG").exists()
    assert not Path(DEFAULT_NAME).exists()


def test_where_nothing_can_be_written_there_is_no_cache(run, capsys):
    write(train=SCRIPT, helper=ON_THE_CPU)
    Path(DEFAULT_NAME).write_text("a file where the folder would be")
    first, told = run()
    assert first == ["helper.py", "train.py"]
    assert "DEV101" in told
    assert Path(DEFAULT_NAME).read_text() == "a file where the folder would be"


def test_a_clean_tree_is_remembered_by_fix_and_for_fix(run):
    write(helper=ON_CUDA, other="import torch\n")
    assert main(["--fix", *CHECK]) == 0
    assert run() == ([], "")


def test_fix_sees_what_it_has_changed_itself(capsys):
    write(train=SCRIPT.replace("make()", "make().cpu()"), helper=ON_CUDA)
    assert main(["-q", "."]) == 1
    assert main(["--fix", "--unsafe-fixes", "-q", "."]) == 0
    assert main(["-q", "."]) == 0


def test_comments_that_name_no_rule_are_told_again(capsys):
    write(train="import torch\nx = 1  # devicelint: ignore[DEV999]\n")
    told = [(main(["train.py"]), capsys.readouterr().err) for _ in range(2)]
    assert "DEV999" in told[0][1]
    assert told[0] == told[1]


def test_a_change_while_files_are_checked_is_not_remembered_as_checked(run, monkeypatch):
    write(train=SCRIPT, helper=ON_THE_CPU)
    real = lint.check

    def check(source, *arguments):
        checked = real(source, *arguments)
        if source.path == "train.py":
            write(helper=ON_CUDA)
        return checked

    with monkeypatch.context() as patched:
        patched.setattr(lint, "check", check)
        assert "DEV101" in run()[1]
    assert run() == (["helper.py", "train.py"], "")


def test_a_remembered_run_imports_no_parser():
    write(train=SCRIPT, helper=ON_THE_CPU, plain="print('no devices here')\n")
    code = (
        "import sys; from devicelint.cli import main; status = main(sys.argv[1:]);"
        "heavy = {'libcst', 'rich', 'multiprocessing', 'concurrent', 'subprocess', 'difflib',"
        " 'markdown_it', 'pygments', 'importlib.metadata', 'devicelint.linter.lint',"
        " 'devicelint.rules'};"
        "print(status, sorted(heavy & set(sys.modules)))"
    )

    def run(*words: str) -> str:
        command = [sys.executable, "-c", code, *words]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        return done.stdout.splitlines()[-1]

    assert run("--version") == "0 []"
    assert run("-q", "plain.py") == "0 []"
    assert "libcst" in run("-q", ".")
    assert run("-q", ".") == "1 []"
    assert run("-q", "--fix", "plain.py") == "0 []"
