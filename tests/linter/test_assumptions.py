"""What a project says of code that no source explains: `assume`, `stubs`, and every front end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.config import Config, ConfigError, load_config
from devicelint.domain.assumptions import AssumedKind, NotUnderstood, Thing, assumption
from devicelint.finding import InputError
from devicelint.knowledge import grammar
from devicelint.knowledge.own import read
from devicelint.linter import lint
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

PAGE = Path(__file__).parents[2] / "docs" / "assume.md"
DEMANDS = {"accelerator-required", "hard-coded-accelerator"}
MODEL_MEETS_BATCH = """\
import torch
from registry import batch, model

model(batch)
"""


def configured(folder: Path, text: str) -> Config:
    path = folder / "pyproject.toml"
    path.write_text(f"[tool.devicelint]\n{text}", encoding="utf-8")
    return load_config(path, folder, {})


def found(code: str, config: Config, path: str = "train.py") -> list[str]:
    checked = lint.check(SourceFile.from_text(code, path), config, Project())
    return [f"{checked.source.position(f.span.start).line} {f.code}" for f in checked.findings]


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        configured(folder, text)
    return str(caught.value).replace(str(folder), "FOLDER")


class TestLanguage:
    @pytest.mark.parametrize(
        ("text", "thing"),
        [
            ("cpu batches", Thing(AssumedKind.BATCHES, "cpu")),
            ("batches on cpu", Thing(AssumedKind.BATCHES, "cpu")),
            ("loader of cuda:1 batches", Thing(AssumedKind.BATCHES, "cuda:1")),
            ("  module   on  args.device ", Thing(AssumedKind.MODULE, "args.device")),
            ("cuda model", Thing(AssumedKind.MODULE, "cuda")),
            ("tensor on the_device", Thing(AssumedKind.TENSOR, "the_device")),
            ("device", Thing(AssumedKind.DEVICE)),
            ("device mps", Thing(AssumedKind.DEVICE, "mps")),
            ("list of numbers", Thing(AssumedKind.LIST, items=(Thing(AssumedKind.NUMBER),))),
            (
                "(cpu tensor,(device, array))",
                Thing(
                    AssumedKind.TUPLE,
                    items=(
                        Thing(AssumedKind.TENSOR, "cpu"),
                        Thing(
                            AssumedKind.TUPLE,
                            items=(Thing(AssumedKind.DEVICE), Thing(AssumedKind.ARRAY)),
                        ),
                    ),
                ),
            ),
        ],
    )
    def test_things(self, text: str, thing: Thing) -> None:
        assert assumption("x", text).thing == thing

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", '"" is not understood'),
            ("cpu", '"cpu" is not understood'),
            ("cpu batchs", '"cpu batchs" is not understood; did you mean "batches"?'),
            ("tensor", '"tensor" does not say where: "tensor on cpu", say'),
            ("gpu tensor", '"gpu" in "gpu tensor" is no device; did you mean "cuda"?'),
            ("tensor on cude", '"cude" in "tensor on cude" is no device; did you mean "cuda"?'),
            ("tensor on cuda:x", '"cuda:x" in "tensor on cuda:x" is no device'),
            ("module on", "a device is missing"),
            ("cpu tensor please", '"cpu tensor please" is not understood'),
            ("(cpu tensor", '"(cpu tensor" has no closing parenthesis'),
            ("list of", '"list of" is not understood'),
            ("list of " * 9 + "number", "is nested too deeply"),
        ],
    )
    def test_mistakes(self, text: str, message: str) -> None:
        with pytest.raises(NotUnderstood) as caught:
            assumption("x", text)
        assert str(caught.value).startswith(message)

    @pytest.mark.parametrize("name", ["", "a b", "a.", "f(x)", "1a", "f()()", "a-b"])
    def test_what_is_no_name(self, name: str) -> None:
        with pytest.raises(NotUnderstood, match="is no name"):
            assumption(name, "cpu tensor")


class TestConfiguration:
    def test_each_has_its_place(self, tmp_path: Path) -> None:
        config = configured(tmp_path, "assume = {}\n")
        assert config.assume == ()
        config = configured(
            tmp_path, '[tool.devicelint.assume]\nself.x = "device"\n"f()" = "array"'
        )
        assert [(one.key, one.place) for one in config.assume] == [
            ("self.x", "pyproject.toml:3"),
            ("f()", "pyproject.toml:4"),
        ]

    def test_a_mistake_is_told_with_its_line(self, tmp_path: Path) -> None:
        assert refused(
            tmp_path, '[tool.devicelint.assume]\nx = "cpu tensor"\ny = "cpu tenser"'
        ) == (
            'FOLDER/pyproject.toml:4:1: "assume.y": "cpu tenser" is not understood; '
            'did you mean "tensor"?'
        )
        assert refused(tmp_path, "assume = {x = 3}") == (
            'FOLDER/pyproject.toml:2:11: "assume.x" must be a string, not a number'
        )
        assert refused(tmp_path, 'assume = ["x"]') == (
            'FOLDER/pyproject.toml:2:1: "assume" must be a table, not a list'
        )

    def test_a_base_is_added_to(self, tmp_path: Path) -> None:
        (tmp_path / "base.toml").write_text('[assume]\nx = "cpu tensor"\ny = "array"\n')
        config = configured(
            tmp_path, 'extend = "base.toml"\n[tool.devicelint.assume]\nx = "number"'
        )
        assert [(one.key, one.text, one.place) for one in config.assume] == [
            ("y", "array", "base.toml:3"),
            ("x", "number", "pyproject.toml:4"),
        ]

    def test_config_shows_them_with_their_places(self, tmp_path: Path) -> None:
        configured(tmp_path, '[tool.devicelint.assume]\nx = "array"\nself.y.z = "device"\n')
        (tmp_path / "train.py").touch()
        told = devicelint(tmp_path, "config", "train.py").stdout
        places = re.findall(r'("x"|"self.y.z") = "\w+" +(\S+)', told)
        assert places == [('"x"', "pyproject.toml:3"), ('"self.y.z"', "pyproject.toml:4")]

    def test_stubs_lie_beside_it_or_are_named(self, tmp_path: Path) -> None:
        usual, other = tmp_path / "devicelint.pyi", tmp_path / "stubs" / "o.pyi"
        other.parent.mkdir()
        assert configured(tmp_path, "").stubs == ()
        usual.write_text("class a:\n    def f(x: Tensor) -> Tensor[CPU]: ...\n")
        other.write_bytes(b"\xef\xbb\xbfclass a:\r\n    def g(x: Tensor) -> Host: ...\r\n")
        assert [stub.path for stub in configured(tmp_path, "").stubs] == [usual]
        assert [stub.path for stub in configured(tmp_path, 'stubs = ["stubs/o.pyi"]').stubs] == [
            other
        ]
        assert configured(tmp_path, "stubs = []").stubs == ()

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            (b"def f(:\n", "1:1: is no Python: invalid syntax"),
            (b"class a:\n    x = 3\n", "2:1: expected a def, a class, or a docstring"),
            (
                b"class a:\n  def f(x: Tensr[D]): ...\n",
                "2:1: unknown parameter annotation: Tensr[D]",
            ),
            (b"class a:\n  def f(x): ...\n", "2:1: f states no result"),
            (b"class a:\n  def f(x) -> Thing: ...\n", "2:1: unknown result: Thing"),
            (
                b"class a:\n  class B(Modul): ...\n",
                "2:1: B extends Modul: expected Module or LossModule",
            ),
            (b"class a:\n  class B(Module): ...\n", "2:1: B states no forward"),
            (b"class a:\n  class B(Module):\n    def forward(): ...\n", "3:1: forward has no self"),
            (
                b"class a:\n  def f(x) -> Any: ...\n  def f(x) -> Any: ...\n",
                "3:1: a.f is stated twice",
            ),
            (b"def f(x) -> Any: ...\n", "1:1: f is in no module: put it into `class mypkg:`, say"),
            (b"\n\xff\n", "2:1: is not UTF-8"),
            (b"x = 1\0\n", "1:1: is no Python: "),
            (b"(" * 5000, "1:1: is no Python: "),
        ],
    )
    def test_a_stub_that_is_none(self, tmp_path: Path, text: bytes, told: str) -> None:
        (tmp_path / "devicelint.pyi").write_bytes(text)
        message = refused(tmp_path, "")
        assert message.startswith(f"FOLDER/devicelint.pyi:{told}")
        assert "\n" not in message

    def test_a_stub_file_that_is_missing(self, tmp_path: Path) -> None:
        assert refused(tmp_path, 'stubs = ["x.pyi"]') == (
            'FOLDER/pyproject.toml:2:11: "stubs": there is no file FOLDER/x.pyi'
        )


class TestWhatIsMet:
    def test_names_by_import(self, tmp_path: Path) -> None:
        """A full name is one, whatever the import makes of it."""
        config = configured(
            tmp_path,
            '[tool.devicelint.assume]\n"pkg.data.x" = "cpu tensor"\n"pkg.data.f()" = "cuda tensor"',
        )
        (tmp_path / "pkg").mkdir()
        (tmp_path / "pkg" / "data.py").write_text("import unseen\nx = unseen.x\nf = unseen.f\n")
        path = str(tmp_path / "pkg" / "train.py")
        for text in (
            "from pkg.data import f, x\nf() + x\n",
            "from .data import f as g, x as y\ng() + y\n",
            "import pkg.data\npkg.data.f() + pkg.data.x\n",
            "import pkg.data as d\nd.f() + d.x\n",
            "from pkg import data\ndata.f() + data.x\n",
        ):
            assert found(f"import torch\n{text}", config, path) == ["3 DEV102"], text
        assert found("import torch\nfrom other.data import f, x\nf() + x\n", config, path) == []

    def test_a_module_that_moves_in_a_branch(self, tmp_path: Path) -> None:
        """What is assumed is there from the start, on each path."""
        config = configured(tmp_path, '[tool.devicelint.assume]\nmodel = "cpu module"')
        code = """\
import sys
import torch
from somewhere import model

x = torch.ones(3)
if len(sys.argv) > 1:
    model.to("cuda")
model(x)
"""
        assert [line for line in found(code, config) if "DEV4" not in line] == []
        assert "5 DEV103" in found(code.replace("if len(sys.argv) > 1:", "if True:"), config)

    def test_a_loop_that_builds_anew(self, tmp_path: Path) -> None:
        config = configured(tmp_path, '[tool.devicelint.assume]\nmodel = "cpu module"')
        code = """\
import torch
from somewhere import build

def run(device):
    for fold in range(3):
        model = build()
        model(torch.ones(3))
        model.to(device)
        model(torch.ones(3, device=device))
"""
        assert found(code, config) == []

    def test_a_machine_without_an_accelerator(self, tmp_path: Path) -> None:
        config = configured(tmp_path, '[tool.devicelint.assume]\nmodel = "module on cuda"')
        code = """\
import torch
from somewhere import model

device = "cuda" if torch.cuda.is_available() else "cpu"
model(torch.ones(3, device=device))
"""
        assert found(code, config) == []

    def test_what_is_known_is_told(self, tmp_path: Path) -> None:
        config = configured(tmp_path, '[tool.devicelint.assume]\nx = "cuda tensor"')
        code = "import torch\nx = torch.ones(3)\ny = x + 1\n"
        checked = lint.check(SourceFile.from_text(code, "a.py"), config)
        assert [(m.name, m.place, m.known) for m in checked.assumed] == [
            ("x", "pyproject.toml:3", "a.py:3:5")
        ]
        code = "import torch\nfrom b import x\nz = x\nx = torch.ones(3)\ny = x + 1\n"
        checked = lint.check(SourceFile.from_text(code, "a.py"), config)
        assert [m.known for m in checked.assumed] == [""]

    def test_the_history_names_the_configuration(self, tmp_path: Path) -> None:
        config = configured(
            tmp_path, '[tool.devicelint.assume]\nmodel = "cuda module"\nbatch = "cpu batch"'
        )
        checked = lint.check(SourceFile.from_text(MODEL_MEETS_BATCH, "train.py"), config)
        told = {related.message for finding in checked.findings for related in finding.related}
        assert told == {
            "assumed to be on cuda here, as pyproject.toml:3 says",
            "assumed to be on the CPU here, as pyproject.toml:4 says",
        }


class TestStubs:
    def test_the_page(self, tmp_path: Path) -> None:
        page = PAGE.read_text(encoding="utf-8")
        stub = re.search(r"^```stub\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        code = re.search(
            r"^```py ignore it needs[^\n]*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
        )
        assert stub is not None
        assert code is not None
        (tmp_path / "devicelint.pyi").write_text(stub[1], encoding="utf-8")
        config = configured(tmp_path, "")
        checked = lint.check(SourceFile.from_text(code[1], "train.py"), config)
        places = [checked.source.position(f.span.start).line for f in checked.findings]
        told = [(line, f.name) for line, f in zip(places, checked.findings, strict=True)]
        expected = [
            (number, match[1])
            for number, line in enumerate(code[1].splitlines(), start=1)
            if (match := re.search(r"# error: \[([a-z-]+)\]", line))
        ]
        assert [one for one in told if one[1] not in DEMANDS] == expected

    def test_a_wrapper_in_the_project(self, tmp_path: Path) -> None:
        """Its body leads nowhere, so that the signature counts; where it leads somewhere, that."""
        (tmp_path / "devicelint.pyi").write_text(
            "class ops:\n"
            "    def fused(a: Tensor[D], b: Tensor[D]) -> Tensor[D]: ...\n"
            "    def plain(a: Tensor[D], b: Tensor[D]) -> Tensor[D]: ...\n"
            "    def native(a: Tensor[D], b: Tensor[D]) -> Tensor[D]: ...\n"
        )
        (tmp_path / "ops.py").write_text(
            "import torch\nimport _ext\n"
            "def fused(a, b):\n    return _ext.fused(a, b)\n"
            "def plain(a, b):\n    return a.cuda()\n"
        )
        config = configured(tmp_path, "")
        code = (
            "import torch\nfrom ops import fused, native, plain\n"
            "y = torch.ones(3, device='cuda')\n"
            "fused(torch.ones(3), y)\n"
            "plain(torch.ones(3), y)\n"
            "native(torch.ones(3), y)\n"
        )
        path = str(tmp_path / "train.py")
        lines = [one for one in found(code, config, path) if "DEV4" not in one]
        assert lines == ["4 DEV103", "6 DEV103"]

    def test_nothing_is_stated_of_a_bare_name(self) -> None:
        with pytest.raises(grammar.GrammarError, match="is in no module"):
            read("def f(x) -> Any: ...")


def devicelint(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "devicelint", *words],
        cwd=folder, env={**os.environ, "NO_COLOR": "1"}, text=True, encoding="utf-8",
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip


class TestFrontEnds:
    @pytest.fixture
    def project(self, tmp_path: Path) -> Path:
        configured(
            tmp_path,
            '[tool.devicelint.assume]\nmodel = "cuda module"\nbatch = "cpu batch"\n'
            'torch_x = "cpu tensor"\n',
        )
        (tmp_path / "train.py").write_text(MODEL_MEETS_BATCH, encoding="utf-8")
        return tmp_path

    def test_check_tells_of_what_needs_no_assumption(self, project: Path) -> None:
        other = project / "other.py"
        other.write_text(
            "import torch\ntorch_x = torch.ones(3)\nbatch = 3\nprint(torch_x, batch)\n"
        )
        told = devicelint(project, "check")
        assert told.returncode == 1
        assert "train.py:4:7: error DEV101" in told.stdout
        assert told.stderr.splitlines()[0] == (
            "pyproject.toml:5: nothing needs to be assumed of torch_x: "
            "it is understood in other.py:4:7"
        )

    def test_verbose_tells_of_names_that_nobody_reads(self, project: Path) -> None:
        """A misspelt name, most likely."""
        told = devicelint(project, "check", "--verbose")
        line = "pyproject.toml:5: no file that was checked reads torch_x"
        assert line in told.stderr.splitlines()
        assert "no file" not in devicelint(project, "check").stderr

    def test_fix(self, project: Path) -> None:
        assert devicelint(project, "check", "--fix", "--quiet").returncode == 0
        text = (project / "train.py").read_text(encoding="utf-8")
        assert "batch.to(next(model.parameters()).device)" in text

    def test_trace_and_why(self, project: Path) -> None:
        (project / "train.py").write_text("import torch\nfrom registry import batch\nx = batch\n")
        assert "x: cpu" in devicelint(project, "trace", "train.py").stdout
        told = devicelint(project, "why", "train.py:3").stdout
        assert "assumed to be on cpu here, as pyproject.toml:4 says" in told

    def test_flake8(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("flake8")
        monkeypatch.chdir(project)
        told = subprocess.run(
            [sys.executable, "-m", "flake8", "--select", "DEV", "train.py"],
            text=True, capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        assert told.stdout.startswith("train.py:4:7: DEV101")


def test_a_mistake_in_a_stub_is_one_line_at_every_front_end(tmp_path: Path) -> None:
    configured(tmp_path, "")
    (tmp_path / "devicelint.pyi").write_text("class a:\n    def f(x: Tenser[D]) -> Any: ...\n")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("import torch\n")
    told = devicelint(tmp_path, "check")
    assert (told.returncode, told.stdout) == (2, "")
    line = "devicelint.pyi:2:1: unknown parameter annotation: Tenser[D]\n"
    assert told.stderr.endswith(line)
    assert told.stderr.count("Tenser") == 1
    assert issubclass(ConfigError, InputError)
