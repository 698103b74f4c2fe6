"""What the programs around a file do with the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.workspace import folder_use
from devicelint.workspace.import_resolver import ABOUT, ImportResolver, Question
from devicelint.workspace.project import Project
from devicelint.workspace.questions import (
    BUILDS,
    CHOOSES,
    DEFAULTS,
    LEADS,
    ON_CPU,
    TAKES,
    TESTED,
)

CHOICE = 'import torch\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n'
STARTS = 'if __name__ == "__main__":\n    x.cuda()\n'


def put(folder: Path, files: dict[str, str]) -> ImportResolver:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ImportResolver()


def about(resolver: ImportResolver, path: Path, what: str) -> str | None:
    found = resolver.about(str(path), what)
    return None if found is None else Path(found).name


def test_the_program_that_imports_a_file_is_around_it(tmp_path: Path) -> None:
    resolver = put(
        tmp_path, {"model.py": "import torch\n", "main.py": f"{CHOICE}import model\n{STARTS}"}
    )
    assert about(resolver, tmp_path / "model.py", CHOOSES) == "main.py"
    assert about(resolver, tmp_path / "model.py", TAKES) is None
    assert about(resolver, tmp_path / "main.py", CHOOSES) is None


def test_so_is_what_it_imports_from_a_package(tmp_path: Path) -> None:
    resolver = put(
        tmp_path,
        {
            "net/__init__.py": "import torch\nfrom .layers import Layer\n",
            "net/layers.py": "import torch\n",
            "tools.py": CHOICE,
            "main.py": "import torch\nimport tools\nfrom net import Layer\n" + STARTS,
        },
    )
    assert about(resolver, tmp_path / "net" / "layers.py", CHOOSES) == "tools.py"


def test_a_package_that_knows_nothing_of_torch_hands_on_what_it_imports(tmp_path: Path) -> None:
    files = {
        "net/__init__.py": "from .model import Model\n",
        "net/model.py": "import torch\n",
        "main.py": "import torch\nfrom net import Model\nprint(torch, Model())\n",
        "other.py": f"import torch\n{STARTS}",
    }
    resolver = put(tmp_path, files)
    assert about(resolver, tmp_path / "net" / "model.py", TAKES) is None
    assert about(resolver, tmp_path / "other.py", TAKES) == "other.py"


def test_another_program_says_nothing_of_it(tmp_path: Path) -> None:
    resolver = put(
        tmp_path,
        {
            "model.py": "import torch\n",
            "main.py": "import torch\nimport model\n" + STARTS,
            "other.py": CHOICE + STARTS,
        },
    )
    assert about(resolver, tmp_path / "model.py", CHOOSES) is None
    assert about(resolver, tmp_path / "model.py", TAKES) == "main.py"
    assert about(resolver, tmp_path / "main.py", TAKES) == "main.py"


def test_what_nothing_imports_has_the_whole_project_around(tmp_path: Path) -> None:
    resolver = put(tmp_path, {"loss.py": "import torch\n", "deep/main.py": CHOICE + STARTS})
    assert about(resolver, tmp_path / "loss.py", CHOOSES) == "main.py"


def test_a_default_that_any_file_sets_is_set_for_all(tmp_path: Path) -> None:
    sets = "import torch\nif __name__ == '__main__':\n    torch.set_default_device('cuda')\n"
    files = {"model.py": "import torch\n", "other.py": sets, "test_model.py": "import model\n"}
    resolver = put(tmp_path, files)
    assert about(resolver, tmp_path / "model.py", DEFAULTS) == "other.py"
    assert about(put(tmp_path, {"other.py": CHOICE}), tmp_path / "model.py", DEFAULTS) is None


TRAINS = "import torch\nimport model\nif __name__ == '__main__':\n    model.loss().backward()\n"


def test_a_project_that_trains_and_speaks_of_no_device_is_on_the_cpu(tmp_path: Path) -> None:
    resolver = put(tmp_path, {"model.py": "import torch\n", "main.py": TRAINS})
    assert about(resolver, tmp_path / "model.py", ON_CPU) == "main.py"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("other.py", "import torch\nx = torch.ones(2).cuda()\n"),
        ("settings.py", "WHERE = 'cuda'\n"),
        ("show.ipynb", '{"cells": [{"source": ["import torch"]}]}'),
    ],
)
def test_it_is_not_where_any_file_may_leave_it(tmp_path: Path, name: str, text: str) -> None:
    resolver = put(tmp_path, {"model.py": "import torch\n", "main.py": TRAINS, name: text})
    assert about(resolver, tmp_path / "model.py", ON_CPU) is None


def test_nor_is_a_library_of_which_only_tests_are_seen(tmp_path: Path) -> None:
    resolver = put(tmp_path, {"model.py": "import torch\n", "test_model.py": TRAINS})
    assert about(resolver, tmp_path / "model.py", ON_CPU) is None


def test_nor_is_a_program_that_trains_nothing(tmp_path: Path) -> None:
    shows = TRAINS.replace(".backward()", "")
    resolver = put(tmp_path, {"model.py": "import torch\n", "main.py": shows})
    assert about(resolver, tmp_path / "model.py", ON_CPU) is None


def test_nor_what_belongs_to_no_project(tmp_path: Path) -> None:
    resolver = put(tmp_path, {"model.py": "import torch\n", "main.py": TRAINS})
    (tmp_path / "pyproject.toml").unlink()
    assert about(resolver, tmp_path / "model.py", ON_CPU) is None


def test_a_folder_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_use, "_MOST_LINES", 3)
    resolver = put(tmp_path, {"deep/loss.py": "import torch\n", "main.py": CHOICE + STARTS})
    assert about(resolver, tmp_path / "deep" / "loss.py", CHOOSES) is None
    assert about(resolver, tmp_path / "main.py", CHOOSES) is None


def test_a_project_remembers_what_was_asked_and_looks_again(tmp_path: Path) -> None:
    put(tmp_path, {"model.py": "import torch\n", "main.py": "import torch\nimport model\n"})
    project, home = Project(), str(tmp_path / "model.py")
    assert project.about(home, CHOOSES) is None
    assert project.asked[home] == {Question(CHOOSES, ABOUT): None}
    put(tmp_path, {"main.py": CHOICE + "import model\n"})
    project.look_again()
    assert project.about(home, CHOOSES) == str(tmp_path / "main.py")


def test_a_program_that_imports_a_file_leads_to_it(tmp_path: Path) -> None:
    resolver = put(
        tmp_path,
        {
            "model.py": "import torch\n",
            "main.py": f"{CHOICE}import model\n{STARTS}",
            "alone.py": "import torch\n",
        },
    )
    assert about(resolver, tmp_path / "model.py", LEADS) == "main.py"
    assert about(resolver, tmp_path / "alone.py", LEADS) is None
    assert about(resolver, tmp_path / "alone.py", CHOOSES) == "main.py"


TESTS = {
    "tests/helpers.py": "import torch\n",
    "tests/shared.py": "import torch\n",
    "tests/test_it.py": "import torch\nfrom tests import helpers, shared\nimport apart\n",
    "apart.py": "import torch\n",
    "main.py": "import torch\nfrom tests.shared import f\n" + STARTS,
}


@pytest.mark.parametrize(
    ("file", "test"),
    [("tests/helpers.py", "test_it.py"), ("tests/shared.py", None), ("apart.py", None)],
)
def test_what_lies_among_tests_and_nothing_else_imports_is_theirs(
    tmp_path: Path, file: str, test: str | None
) -> None:
    resolver = put(tmp_path, TESTS)
    assert about(resolver, tmp_path / file, TESTED) == test


def test_without_a_root_nobody_knows_who_imports_it(tmp_path: Path) -> None:
    resolver = put(tmp_path, TESTS)
    (tmp_path / "pyproject.toml").unlink()
    assert about(resolver, tmp_path / "tests" / "helpers.py", TESTED) is None


def test_what_needs_the_compiler_of_cuda_as_it_is_imported(tmp_path: Path) -> None:
    """Directly, or with what it imports in any case."""
    load = "from torch.utils.cpp_extension import load\n"
    resolver = put(
        tmp_path,
        {
            "setup.py": "from torch.utils.cpp_extension import CUDAExtension\n"
            "modules = [CUDAExtension(name='net._fast', sources=[])]\n",
            "net/__init__.py": "",
            "net/fast.py": "import torch\nfrom . import _fast\n",
            "built.py": load + "kernel = load('kernel', ['a.cpp', 'a.cu'])\n",
            "host.py": load + "kernel = load('kernel', ['a.cpp'])\n",
            "late.py": load + "def kernel():\n    return load('kernel', ['a.cu'])\n",
            "main.py": "import torch\nimport built\n",
            "fast.py": "import torch\nfrom net import fast\n",
            "either.py": "import torch\ntry:\n    import net._fast\n"
            "except ImportError:\n    from built import kernel\n",
            "perhaps.py": "import torch\ntry:\n    import built\nexcept ImportError:\n    pass\n",
        },
    )

    def is_built(name: str) -> bool:
        return about(resolver, tmp_path / name, BUILDS) is not None

    assert all(map(is_built, ("built.py", "main.py", "net/fast.py", "fast.py", "either.py")))
    assert not any(map(is_built, ("host.py", "late.py", "perhaps.py", "setup.py")))


def test_a_module_of_a_package_that_is_called_setup_marks_no_project(tmp_path: Path) -> None:
    resolver = put(
        tmp_path,
        {
            "net/__init__.py": "",
            "net/setup.py": "import torch\n",
            "net/main.py": "import torch\nfrom net.setup import build\n",
            "apart/setup.py": "import torch\n",
            "apart/main.py": "import torch\nfrom net.setup import build\n",
        },
    )
    setup = str(tmp_path / "net" / "setup.py")
    assert resolver.find(str(tmp_path / "net" / "main.py"), "net.setup", 0) == setup
    assert resolver.find(str(tmp_path / "apart" / "main.py"), "net.setup", 0) is None


def test_the_default_device_is_looked_for_in_a_project_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_use, "_MOST_LINES", 3)
    files = {
        "net/layers.py": "import torch\n" * 3,
        "more/layers.py": "import torch\n" * 3,
        "tests/test_layers.py": "import torch\ntorch.set_default_device('cuda')\n",
    }
    assert about(put(tmp_path, files), tmp_path / "net/layers.py", DEFAULTS) is None
    program = {"examples/run.py": "import torch\ntorch.set_default_device('cuda')\n"}
    assert about(put(tmp_path, program), tmp_path / "net/layers.py", DEFAULTS) == "run.py"
