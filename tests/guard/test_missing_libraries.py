from __future__ import annotations

import importlib
import sys

import pytest


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
    monkeypatch.delitem(sys.modules, f"runtime_guard.{door}", raising=False)
    with pytest.raises(ImportError, match=f"runtime_guard.{door} needs .*: pip install {package}"):
        importlib.import_module(f"runtime_guard.{door}")
