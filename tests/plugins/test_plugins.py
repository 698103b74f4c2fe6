"""Rules that other distributions bring, as docs/plugins.md shows them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import devicelint
from devicelint import api, plugins, rule_index
from tests.plugins.plugging import RULE, RULE_PAGE, SCRIPT, write

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "plugins.md"
_FILE = re.compile(
    r"^`(?P<name>[\w./]+)`:\n\n```\w+[^\n]*\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


def files_of_the_page() -> dict[str, str]:
    return {each["name"]: each["text"] for each in _FILE.finditer(PAGE.read_text("utf-8"))}


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    source, target = tmp_path_factory.mktemp("house"), tmp_path_factory.mktemp("target")
    write(source, {**files_of_the_page(), "house_rules/__init__.py": ""})
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
