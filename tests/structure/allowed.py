"""What the tests of this folder let pass, for the time being; each list becomes empty."""

from __future__ import annotations

IN_CIRCLES: frozenset[str] = frozenset(
    {
        "devicelint.interpreter.facts.saved_files",
        "devicelint.interpreter.python.assignment",
        "devicelint.interpreter.python.attributes",
        "devicelint.interpreter.python.branches",
        "devicelint.interpreter.python.calls",
        "devicelint.interpreter.python.containers",
        "devicelint.interpreter.python.functions",
        "devicelint.interpreter.python.parameters",
        "devicelint.interpreter.torch.modules.copies",
        "devicelint.interpreter.torch.modules.escapes",
        "devicelint.interpreter.torch.modules.registration",
        "devicelint.interpreter.torch.modules.submodules",
        "devicelint.interpreter.torch.ranks",
        "devicelint.interpreter.torch.signatures",
        "devicelint.interpreter.torch.transfers",
    }
)
LOCAL_IMPORTS: frozenset[tuple[str, str]] = frozenset(
    {
        ("devicelint.interpreter.python.attributes", "devicelint.interpreter.python.functions"),
        (
            "devicelint.interpreter.python.attributes",
            "devicelint.interpreter.torch.modules.submodules",
        ),
        (
            "devicelint.interpreter.python.containers",
            "devicelint.interpreter.facts.tensor_parameters",
        ),
        ("devicelint.interpreter.python.containers", "devicelint.interpreter.python.attributes"),
        ("devicelint.interpreter.python.containers", "devicelint.interpreter.python.functions"),
        ("devicelint.interpreter.python.containers", "devicelint.interpreter.torch.modules.copies"),
        (
            "devicelint.interpreter.torch.modules.escapes",
            "devicelint.interpreter.python.attributes",
        ),
        (
            "devicelint.interpreter.torch.modules.escapes",
            "devicelint.interpreter.torch.modules.registration",
        ),
        ("devicelint.interpreter.torch.transfers", "devicelint.interpreter.python.attributes"),
        ("devicelint.interpreter.torch.transfers", "devicelint.interpreter.python.calls"),
        (
            "devicelint.interpreter.torch.transfers",
            "devicelint.interpreter.torch.modules.registration",
        ),
    }
)
MORE_AT_THE_TOP = 0
FULL_FOLDERS: frozenset[str] = frozenset(
    {
        "devicelint/interpreter/torch",
        "devicelint/knowledge/stubs",
    }
)
LONG_FILES: frozenset[str] = frozenset(
    {
        "devicelint/cli/commands/check.py",
        "devicelint/domain/values.py",
        "devicelint/fixes/rounds.py",
        "devicelint/interpreter/python/attributes.py",
        "devicelint/interpreter/python/calls.py",
        "devicelint/interpreter/python/functions.py",
        "devicelint/interpreter/torch/signatures.py",
    }
)
CLASSES_WITH_TWO_HOMES: frozenset[str] = frozenset(
    {
        "Evidence",
        "Ground",
        "Group",
        "GuardedMoves",
        "Places",
    }
)
REGEXES_OUTSIDE_OF_FACTS: frozenset[str] = frozenset()
MORE_REGEXES = 0
