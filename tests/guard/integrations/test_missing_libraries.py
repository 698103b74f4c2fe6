from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import runtime_guard


@pytest.mark.parametrize(
    ("door", "modules", "package"),
    [
        ("lightning", ["lightning", "pytorch_lightning"], "lightning"),
        ("transformers", ["transformers"], "transformers"),
        ("skorch", ["skorch"], "skorch"),
        ("ignite", ["ignite"], "pytorch-ignite"),
    ],
)
def test_a_door_whose_library_is_missing_says_what_to_install(monkeypatch, door, modules, package):
    for name in [*sys.modules]:
        if name.partition(".")[0] in modules:
            monkeypatch.delitem(sys.modules, name)
    for name in modules:
        monkeypatch.setitem(sys.modules, name, None)
    for home in ("runtime_guard", "runtime_guard.integrations"):
        monkeypatch.delitem(sys.modules, f"{home}.{door}", raising=False)
    with pytest.raises(ImportError, match=f"runtime_guard.{door} needs .*: pip install {package}"):
        importlib.import_module(f"runtime_guard.{door}")


def without_torch(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a Python in which nothing but the standard library is installed."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({ROOT!r})\n{program}"],
        env={name: os.environ[name] for name in os.environ if not name.startswith("RUNTIME_GUARD")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


ROOT = str(Path(runtime_guard.__file__).parents[1])
NEED_NO_TORCH = {
    "DeviceMismatchError",
    "DeviceMismatchWarning",
    "Mismatch",
    "PlacementWarning",
    "VirtualGpuWarning",
    "explain",
}


def test_whatever_needs_torch_says_what_to_install_where_it_is_missing():
    told = without_torch("""
import runtime_guard
for name in runtime_guard.__all__:
    try:
        getattr(runtime_guard, name)
    except ImportError as error:
        print(error)
""")
    expected = [
        f"runtime_guard.{name} needs PyTorch: pip install 'devicelint[guard]'"
        for name in runtime_guard.__all__
        if name not in NEED_NO_TORCH
    ]
    assert (told.stdout.splitlines(), told.stderr) == (expected, "")


def test_the_traceback_of_who_imports_a_guard_without_torch_ends_in_our_words_alone():
    told = without_torch("from runtime_guard import guard")
    assert "During handling" not in told.stderr
    assert told.stderr.splitlines()[-1] == (
        "ImportError: runtime_guard.guard needs PyTorch: pip install 'devicelint[guard]'"
    )


def test_anything_else_that_is_missing_is_named_as_it_is(monkeypatch):
    monkeypatch.delitem(sys.modules, "runtime_guard.hooks.guard", raising=False)
    monkeypatch.setitem(sys.modules, "runtime_guard.hooks.guard", None)
    monkeypatch.delitem(vars(runtime_guard), "guard", raising=False)
    with pytest.raises(ModuleNotFoundError, match="hooks"):
        _ = runtime_guard.guard


def test_the_command_line_runs_a_program_that_has_no_torch(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys; print(*sys.argv[1:])", encoding="utf-8")
    told = without_torch(f"""
from runtime_guard.launcher.cli import main
sys.path.insert(0, "")
sys.exit(main([{str(script)!r}, "--epochs", "3"]))
""")
    assert (told.returncode, told.stdout, told.stderr) == (0, "--epochs 3\n", "")


def test_nothing_but_types_is_taken_from_what_is_installed_with_a_checker_alone():
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in sorted(Path(runtime_guard.__file__).parent.rglob("*.py"))
        for node in _run_when_imported(ast.parse(file.read_text(encoding="utf-8")))
        if _imported(node) & {"typing_extensions", "tomli"}
    ]
    assert found == []


def _run_when_imported(tree: ast.AST):
    """All that is below a node but what only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for other in node.orelse:
                yield from ast.walk(other)
        else:
            yield node
            yield from _run_when_imported(node)


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return {str(node.module).partition(".")[0]} if isinstance(node, ast.ImportFrom) else set()
