"""Which file an import means, and what is read of it."""

from __future__ import annotations

import os
from pathlib import Path

import libcst as cst
import pytest

from devicelint.interpreter.engine.nodes import cached_of_nodes
from devicelint.linter import lint
from devicelint.text.source import SourceFile
from devicelint.workspace.memory.parsed_files import RECENT_CHECKS
from devicelint.workspace.project import Project


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A project with a package, a `src` folder, scripts, and files that cannot be read."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "pyproject.toml",
        "top.py",
        "pkg/__init__.py",
        "pkg/one.py",
        "pkg/deep/__init__.py",
        "pkg/deep/two.py",
        "src/layout/__init__.py",
        "scripts/train.py",
        "scripts/beside.py",
        "plain/inner.py",
        "both.py",
        "both/__init__.py",
        "outside/.git",
        "outside/scripts/run.py",
    ):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("importer", "module", "level", "found"),
    [
        ("scripts/train.py", "beside", 0, "scripts/beside.py"),
        ("scripts/train.py", "top", 0, "top.py"),
        ("scripts/train.py", "pkg.deep.two", 0, "pkg/deep/two.py"),
        ("scripts/train.py", "layout", 0, "src/layout/__init__.py"),
        ("scripts/train.py", "plain.inner", 0, "plain/inner.py"),
        ("scripts/train.py", "plain", 0, "plain"),
        ("scripts/train.py", "both", 0, "both/__init__.py"),
        ("scripts/train.py", "absent", 0, None),
        ("scripts/train.py", "pkg.absent", 0, None),
        ("pkg/deep/two.py", "pkg.one", 0, "pkg/one.py"),
        ("pkg/deep/two.py", "", 1, "pkg/deep/__init__.py"),
        ("pkg/deep/two.py", "one", 2, "pkg/one.py"),
        ("pkg/__init__.py", "deep.two", 1, "pkg/deep/two.py"),
        ("outside/scripts/run.py", "top", 0, None),
    ],
)
def test_an_import_means_the_file_that_python_would_find(tree, importer, module, level, found):
    home = Project().find(importer, module, level)
    assert home == (None if found is None else str(tree / found))


def test_a_package_holds_its_modules_and_a_file_none(tree):
    project = Project()
    assert project.inside(str(tree / "pkg/__init__.py"), "one") == str(tree / "pkg/one.py")
    assert project.inside(str(tree / "plain"), "inner") == str(tree / "plain/inner.py")
    assert project.inside(str(tree / "top.py"), "one") is None


@pytest.mark.parametrize("content", [b"x = (\n", b"\xff\xfe\x00", b"print 'old'\n"])
def test_what_is_no_python_is_not_followed(tree, content):
    (tree / "top.py").write_bytes(content)
    assert Project().program(str(tree / "top.py")) is None
    assert Project().program(str(tree / "absent.py")) is None


def test_a_file_is_read_again_when_it_has_changed(tree):
    project, home = Project(), str(tree / "top.py")
    first = project.program(home)
    assert project.program(home) is first
    (tree / "top.py").write_text("x = 1\n", encoding="utf-8")
    os.utime(home, (1, 1))
    second = project.program(home)
    assert second is not None
    assert second.text == "x = 1\n"


def test_few_files_are_kept_at_a_time(tree):
    project = Project()
    for number in range(8):
        path = tree / f"long{number}.py"
        path.write_text("x = 1\n" * 9_000, encoding="utf-8")
        project.program(str(path))
    assert kept_names(project) == [f"long{number}.py" for number in (7, 6, 5, 4)]


def test_a_file_that_nobody_imports_makes_room_first(tree):
    project = Project()
    for name in ("imported.py", "checked.py", "also_imported.py"):
        path = tree / name
        path.write_text("x = 1\n" * 12_000, encoding="utf-8")
        source = SourceFile.from_text(path.read_text(encoding="utf-8"), str(path))
        if name == "checked.py":
            project.begin_check(source)
            project.tree(source)
        else:
            project.program(str(path))
    assert kept_names(project) == ["also_imported.py", "checked.py", "imported.py"]
    project.begin_check(SourceFile.from_text("", str(tree / "top.py")))
    project.program(str(tree / "top.py"))
    assert kept_names(project) == ["top.py", "also_imported.py", "imported.py"]


def test_what_recent_checks_have_not_used_stays_only_if_it_is_little(tree):
    project = Project()
    for name, lines in (("large.py", 9_000), ("small.py", 1_000)):
        (tree / name).write_text("x = 1\n" * lines, encoding="utf-8")
        project.program(str(tree / name))
    for number in range(RECENT_CHECKS - 1):
        check(project, tree / f"one{number}.py")
    (tree / "more.py").write_text("x = 1\n" * 3_000, encoding="utf-8")
    project.program(str(tree / "more.py"))
    assert "large.py" in kept_names(project)
    check(project, tree / "last.py")
    project.program(str(tree / "top.py"))
    assert "large.py" not in kept_names(project)
    assert {"small.py", "more.py"} <= {*kept_names(project)}


def check(project: Project, path: Path) -> None:
    """Begin to check a file, which imports nothing."""
    path.write_text("y = 1\n", encoding="utf-8")
    source = SourceFile.from_text("y = 1\n", str(path))
    project.begin_check(source)
    project.tree(source)


def kept_names(project: Project) -> list[str]:
    """The files that are kept, those first that were asked for last."""
    return [Path(one.path).name for one in project.files()]


def test_a_chain_of_thousands_of_lines_is_given_up_in_silence(tree):
    padding = "pass\n" * 4_000
    for number in range(5):
        text = f"from link{number + 1} import make\nmake\n{padding}"
        (tree / f"link{number}.py").write_text(text, encoding="utf-8")
    (tree / "link5.py").write_text("import torch\nmake = torch.zeros\n", encoding="utf-8")
    reveal = "import torch\nfrom devicelint import reveal_device\nfrom {} import make\n"
    reveal += "reveal_device(make(3))\n"

    def said(start: str) -> list[str]:
        source = SourceFile.from_text(reveal.format(start), "use.py")
        return [one.message for one in lint.check(source, None, Project()).findings]

    assert said("link4") == ["cpu"]
    assert "unknown" in said("link0")[0]


def test_a_text_that_is_not_written_is_what_imports_see(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("far.py").write_text("import torch\nx = torch.zeros(3)\n", encoding="utf-8")
    Path("near.py").write_text("from far import x\n", encoding="utf-8")
    script = SourceFile.from_text(
        "import torch\nfrom near import x\ny = torch.ones(3, device='cuda') + x\n", "script.py"
    )
    project = Project()

    def codes() -> set[str]:
        return {finding.code for finding in lint.check(script, None, project).findings}

    assert "DEV102" in codes()
    held = SourceFile.from_text("import torch\nx = torch.zeros(3, device='cuda')\n", "far.py")
    project.hold(held)
    assert project.held("far.py") == held
    assert "DEV102" not in codes()
    project.release("far.py")
    assert "DEV102" in codes()
    reached = [Path(home).name for home in project.imported_from(script)]
    assert reached == ["near.py", "far.py"]


def test_a_program_around_a_file_is_not_imported_by_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(
        "import torch\nclass Net(torch.nn.Module):\n"
        "    def forward(self, x):\n        return x + torch.zeros(3)\n",
        encoding="utf-8",
    )
    Path("train.py").write_text(
        "import torch\nfrom net import Net\nprint(Net().cuda()(torch.ones(3).cuda()))\n",
        encoding="utf-8",
    )
    project = Project()
    net = SourceFile.from_bytes(Path("net.py").read_bytes(), "net.py")
    lint.check(net, None, project)
    assert [Path(home).name for home in project.rests_on(net)] == ["train.py"]
    assert not project.imported_from(net)


@pytest.fixture
def of_three(tmp_path, monkeypatch):
    """A project that has checked a file by itself, and one that imports a third, which creates."""
    monkeypatch.chdir(tmp_path)
    make = "import torch\ndef make():\n    return torch.zeros(3)\n"
    Path("far.py").write_text(make, encoding="utf-8")
    use = "import torch\nfrom far import make\nmake() + torch.ones(3, device='cuda')\n"
    Path("near.py").write_text(use, encoding="utf-8")
    Path("apart.py").write_text("import torch\ntorch.zeros(3).cuda()\n", encoding="utf-8")
    project = Project()
    for name in ("near.py", "apart.py"):
        lint.check(SourceFile.from_bytes(Path(name).read_bytes(), name), None, project)
    return project


def _checked(project):
    return sorted(Path(home).name for home, *_ in project.known.checked)


def test_a_text_that_is_held_outdates_what_rests_on_its_file_for_as_long(of_three):
    held = SourceFile.from_text("def make():\n    return 0\n", "far.py")
    with of_three.holding():
        of_three.hold(held)
        assert _checked(of_three) == ["apart.py"]
    assert _checked(of_three) == ["apart.py", "near.py"]
    walked = of_three.program(os.path.abspath("far.py")).walked
    assert walked


def test_a_file_that_has_changed_meanwhile_outdates_everything(of_three):
    with of_three.holding():
        of_three.hold(SourceFile.from_text("def make():\n    return 0\n", "far.py"))
        Path("near.py").write_text("from far import make\n", encoding="utf-8")
        os.utime("near.py", (1, 1))
        of_three.program(os.path.abspath("near.py"))
    assert not _checked(of_three)


def test_a_file_that_was_checked_is_not_walked_once_more_for_others(of_three, monkeypatch):
    Path("far.py").write_text("def add(x):\n    return x + 1\n", encoding="utf-8")
    use = "import torch\nimport far\nfar.add(torch.zeros(3))\nfar.add(torch.zeros(3).cuda())\n"
    Path("near.py").write_text(use, encoding="utf-8")
    home, checked, alone = os.path.abspath("near.py"), Project(), Project()
    lint.check(SourceFile.from_bytes(Path("near.py").read_bytes(), "near.py"), None, checked)
    expected = alone.shown_by(home)
    monkeypatch.setattr("devicelint.workspace.project.shown_by", None)
    assert str(_given(checked.shown_by(home))) == str(_given(expected))
    assert _given(expected)["add"][:2] == ["HOST", "ACCELERATOR"]


def _given(shown):
    return {
        name: [one.given.name for one in dict.fromkeys(given["x"])]
        for (_, (name, _)), given in shown.calls.items()
    }


def test_what_is_remembered_of_nodes_does_not_keep_the_trees_that_are_freed(tree):
    asked = []

    @cached_of_nodes(10)
    def name_of(node):
        asked.append(node)
        return type(node).__name__

    project, node = Project(), cst.Name("x")
    assert [name_of(node), name_of(node)] == ["Name", "Name"]
    assert asked == [node]
    for number in range(8):
        path = tree / f"long{number}.py"
        path.write_text("x = 1\n" * 9_000, encoding="utf-8")
        project.program(str(path))
    name_of(node)
    assert asked == [node, node]
