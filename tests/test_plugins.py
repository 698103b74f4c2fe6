"""Rules that other distributions bring: the one of the page, and ones that are none."""

from __future__ import annotations

import ast
import importlib
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import devicelint
from devicelint import api, plugins, rule_index
from devicelint.cli import main
from devicelint.flake8_plugin import Plugin

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "plugins.md"
_FILE = re.compile(
    r"^`(?P<name>[\w./]+)`:\n\n```\w+[^\n]*\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)

SCRIPT = """\
import torch

device = torch.device("cuda")
net = torch.nn.Linear(2, 2)
net.cuda()
"""

RULE = """\
from devicelint.api import *


class House(Rule):
    code = "HSE101"
    name = "house-rule"
    severity = Severity.WARNING
    summary = "Something is moved"

    def on_transfer(self, event, scene):
        yield Report(event.site, "moved")
"""
RULE_PAGE = "# house-rule (HSE101)\n"


def files_of_the_page() -> dict[str, str]:
    return {each["name"]: each["text"] for each in _FILE.finditer(PAGE.read_text("utf-8"))}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT, encoding="utf-8")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts a distribution on the path, as an installer would, and takes it away again."""
    before = set(sys.modules)

    def install(files: Mapping[str, str], value: str = "house", name: str = "house-rules") -> None:
        folder = tmp_path / "site" / name
        record = folder / f"{name.replace('-', '_')}-1.0.dist-info"
        entry = f"[devicelint.rules]\nhouse = {value}\n"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        told = {f"{record.name}/METADATA": metadata, f"{record.name}/entry_points.txt": entry}
        for path, text in {**files, **told}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(folder))
        forget()

    yield install
    monkeypatch.undo()
    for each in set(sys.modules) - before:
        if not each.startswith("devicelint"):
            del sys.modules[each]
    forget()


def forget() -> None:
    importlib.invalidate_caches()
    rule_index._installed.any_installed.cache_clear()
    plugins._loaded.cache_clear()


@pytest.fixture
def run(capfd):
    def with_words(*words: str) -> tuple[int, str, str]:
        status = main(words)
        return status, *capfd.readouterr()

    return with_words


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    source, target = tmp_path_factory.mktemp("house"), tmp_path_factory.mktemp("target")
    for name, text in files_of_the_page().items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    (source / "house_rules" / "__init__.py").touch()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    pip += ["--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True, timeout=120)
    return target


@pytest.fixture
def in_a_process(target, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{target}{os.pathsep}{ROOT}")

    def say(*words: str, status: int = 0) -> str:
        command = [sys.executable, "-m", *words]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", check=False, timeout=120
        )
        assert done.returncode == status, done.stderr
        return done.stdout

    return say


class TestThePage:
    """What docs/plugins.md shows, built and installed by pip."""

    def test_its_findings_are_reported(self, in_a_process):
        words = ("devicelint", "--output-format", "concise", "-q", "--select", "HSE", "train.py")
        found = "train.py:5:1: HSE101 the model `net` is moved by .cuda()\n"
        assert in_a_process(*words, status=1) == found

    def test_its_fix_is_made(self, in_a_process):
        in_a_process("devicelint", "--fix", "--unsafe-fixes", "--select", "HSE", "train.py")
        assert Path("train.py").read_text("utf-8") == SCRIPT.replace("net.cuda()", "net.to(device)")

    def test_flake8_shows_it_once_it_knows_the_letters(self, in_a_process):
        pytest.importorskip("flake8")
        Path(".flake8").write_text("[flake8]\nselect = HSE\n", encoding="utf-8")
        assert in_a_process("flake8", "train.py", status=1) == (
            "train.py:5:1: HSE101 the model `net` is moved by .cuda()\n"
        )

    def test_its_own_test_passes(self, in_a_process):
        name = "test_cuda_method.py"
        Path(name).write_text(files_of_the_page()[name], encoding="utf-8")
        assert "2 passed" in in_a_process("pytest", "-q", "-p", "no:cacheprovider", name)

    def test_it_is_listed_explained_and_known_to_the_settings(self, installed, run):
        files = files_of_the_page()
        installed({**files, "house_rules/__init__.py": ""}, "house_rules")
        assert re.search(
            r"^HSE101 +warning +cuda-method +\.cuda\(\)", run("rules")[1], re.MULTILINE
        )
        assert run("explain", "cuda-method")[1] == files["house_rules/cuda_method.md"]
        assert devicelint.explain("HSE101") == files["house_rules/cuda_method.md"]
        config = '[severity]\nHSE = "note"\n[per-file-ignores]\n"old" = ["cuda-method"]\n'
        Path("devicelint.toml").write_text(config, encoding="utf-8")
        Path("old").mkdir()
        Path("old/train.py").write_text(SCRIPT, encoding="utf-8")
        words = ("-q", "--select", "HSE", ".")
        assert run(*words)[1].startswith("train.py:5:1: note HSE101 cuda-method: the model `net`")
        quiet = SCRIPT.replace("net.cuda()", "net.cuda()  # devicelint: ignore[cuda-method]")
        Path("train.py").write_text(quiet, encoding="utf-8")
        assert run(*words) == (0, "", "")

    def test_every_event_of_the_page_has_a_name_in_the_api(self):
        shown = re.findall(r"^\| `([A-Z]\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
        assert set(shown) == set(api.EVENTS) <= set(api.__all__)
        assert "Transfer" in shown
        assert "Evaluated" not in shown


class TestWhatIsNone:
    @pytest.mark.parametrize(
        ("files", "value", "message"),
        [
            ({}, "house", "cannot be loaded: ModuleNotFoundError: No module named 'house'"),
            (
                {"house.py": "1 / 0\n"},
                "house",
                "cannot be loaded: ZeroDivisionError: division by zero at house-rules/house.py:1",
            ),
            (
                {"house.py": "raise SystemExit(3)\n"},
                "house",
                "cannot be loaded: SystemExit: 3 at house-rules/house.py:1",
            ),
            (
                {"house.py": "x = 1\n"},
                "house",
                "house defines no rule: no class in it derives from",
            ),
            (
                {"house.py": "x = 1\n"},
                "house:x",
                "house:x is neither a module nor a class derived from Rule",
            ),
            ({"house.py": "x = 1\n"}, "house:y", "cannot be loaded: AttributeError: "),
        ],
    )
    def test_entry_points(self, installed, run, files, value, message):
        installed(files, value)
        status, out, error = run("train.py")
        assert (status, out) == (2, "")
        assert error.startswith(f'plug-in "house" (house-rules 1.0): {message}')
        assert error.count("\n") == 1

    @pytest.mark.parametrize(
        ("before", "after", "message"),
        [
            (
                "HSE101",
                "DEV999",
                "has the code DEV999, but codes that begin with DEV are devicelint's",
            ),
            ("HSE101", "DE1011", "must have a code of two or three capitals and three digits, not"),
            (
                "HSE101",
                "DE101",
                "has the code DE101, but codes that begin with DE are devicelint's",
            ),
            (
                "house-rule",
                "House",
                "must have a name of small words with hyphens between, not 'House'",
            ),
            ("Severity.WARNING", "'bad'", "must have a severity, a Severity, not 'bad'"),
            ("summary =", "sumary =", "must have a summary of one line, not None"),
            ("on_transfer", "transfer", "hears nothing: it has no method on_…"),
            (
                "on_transfer",
                "on_transfers",
                'has a method on_transfers, but there is no event Transfers; did you mean "Trans',
            ),
            (
                "    code",
                '    default = "yes"\n    code',
                "must be on by default, or not: default is",
            ),
            (
                "    code",
                "    def __init__(self, a): pass\n    code",
                "cannot be made without arguments: ",
            ),
        ],
    )
    def test_rules(self, installed, run, before, after, message):
        page = RULE_PAGE.replace(before, after)
        installed({"house.py": RULE.replace(before, after), "house_rule.md": page})
        status, out, error = run("train.py")
        assert (status, out) == (2, "")
        assert error.startswith(f'plug-in "house" (house-rules 1.0): house.House {message}')
        assert error.count("\n") == 1

    def test_a_page_is_required(self, installed, run):
        installed({"house.py": RULE})
        assert "house.House has no page: there is no file " in run("train.py")[2]

    def test_the_page_is_that_of_the_rule(self, installed, run):
        installed({"house.py": RULE, "house_rule.md": "# Something\n"})
        assert 'does not begin with "# house-rule (HSE101)": ' in run("train.py")[2]

    def test_two_distributions_do_not_share_letters(self, installed, run):
        installed({"one.py": RULE, "house_rule.md": RULE_PAGE}, "one", "one")
        other = RULE.replace("HSE101", "HS200").replace("house-rule", "other-rule")
        installed({"two.py": other, "other_rule.md": "# other-rule (HS200)\n"}, "two", "two")
        first, second = (f'plug-in "house" ({name} 1.0)' for name in ("one", "two"))
        told = f"{second}: has codes that begin with HS; {first} has those with HSE\n"
        assert run("train.py") == (2, "", told)

    def test_names_are_taken_once(self, installed, run):
        rule = RULE.replace("house-rule", "mixed-devices")
        installed({"house.py": rule, "mixed_devices.md": "# mixed-devices (HSE101)\n"})
        assert "two rules with a name or code of HSE101 mixed-devices" in run("train.py")[2]

    def test_every_door_says_so(self, installed, run):
        installed({})
        told = 'plug-in "house" (house-rules 1.0): cannot be loaded: ModuleNotFoundError: '
        for words in (
            ["rules"],
            ["explain", "DEV101"],
            ["--fix", "train.py"],
            ["adopt", "train.py"],
        ):
            assert run(*words)[0] == 2
        ((line, column, message, _),) = Plugin(
            ast.parse(""), "train.py", SCRIPT.splitlines(True)
        ).run()
        assert (line, column) == (1, 0)
        assert message.startswith(f"DEV900 {told}")
        with pytest.raises(devicelint.InputError, match="cannot be loaded"):
            devicelint.check(SCRIPT)

    def test_another_process_can_say_so(self):
        error = plugins.PluginError("house", "is broken")
        assert str(pickle.loads(pickle.dumps(error))) == str(error) == "house: is broken"

    def test_help_is_there_all_the_same(self, installed, run):
        installed({})
        assert run("--version")[0] == 0
        assert run("check", "--help")[0] == 0


class TestWhileChecking:
    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("yield 1 / 0", "ZeroDivisionError: division by zero at house-rules/house.py:11"),
            ('yield "moved"', "TypeError: 'moved' is no Report at "),
            ("return 3", "TypeError: 'int' object is not iterable at "),
        ],
    )
    def test_a_rule_that_fails_is_named_and_other_files_are_checked(
        self, installed, run, line, told
    ):
        Path("other.py").write_text("import torch\nx = torch.zeros(2, device='cuda: 0')\n")
        text = RULE.replace('yield Report(event.site, "moved")', line)
        installed({"house.py": text, "house_rule.md": RULE_PAGE})
        status, out, error = run("--output-format", "concise", "-q", "train.py", "other.py")
        assert status == 2
        assert re.search(r"^other\.py:.*DEV406", out, re.MULTILINE)
        assert error.startswith(
            "train.py:1:1: is not checked: HSE101 house-rule of "
            f'plug-in "house" (house-rules 1.0) has failed: {told}'
        )
        assert error.count("\n") == 1

    def test_a_rule_that_is_off_waits(self, installed, run):
        text = RULE.replace("    code", "    default = False\n    code")
        installed({"house.py": text, "house_rule.md": RULE_PAGE})
        assert "HSE101" not in run("train.py")[1]
        assert "HSE101" in run("train.py", "--extend-select", "HSE")[1]

    def test_modules_of_a_package_and_a_class_alone(self, installed):
        package = {
            "house/__init__.py": "",
            "house/one.py": RULE,
            "house/_two.py": "1 / 0\n",
            "house/house_rule.md": RULE_PAGE,
        }
        installed(package)
        assert [rule.code for rule in plugins.plugins()[0].rules] == ["HSE101"]
        installed(package, "house.one:House")
        assert [rule.code for rule in plugins.plugins()[0].rules] == ["HSE101"]


class TestIdentity:
    def test_it_changes_with_the_text_of_the_plug_in(self, installed):
        assert rule_index.plugged_in() == ""
        files = {"house.py": RULE, "house_rule.md": RULE_PAGE}
        installed(files)
        before = rule_index.plugged_in()
        assert rule_index.plugged_in() == before != ""
        Path("site/house-rules/house.py").write_text(RULE + "# more\n", encoding="utf-8")
        assert rule_index.plugged_in() != before

    def test_what_an_older_one_found_is_not_remembered(self, installed, run):
        words = ("--output-format", "concise", "-q", "--select", "HSE", "train.py")
        files = {"house.py": RULE, "house_rule.md": RULE_PAGE}
        installed(files)
        assert run(*words)[1] == run(*words)[1] == "train.py:5:1: HSE101 moved\n"
        del sys.modules["house"]
        installed({**files, "house.py": RULE.replace('"moved"', '"moved by us"')})
        assert run(*words)[1] == "train.py:5:1: HSE101 moved by us\n"

    def test_nothing_is_imported_where_there_is_none(self):
        code = (
            "import sys, devicelint.rule_index as index; index.all_facts(); index.plugged_in();"
            "print({'importlib.metadata', 'libcst', 'devicelint.plugins'} & set(sys.modules))"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stdout == "set()\n"
