r"""Follow devices through PyTorch scripts: find what cannot work, say why, and fix it.

>>> import devicelint
>>> devicelint.check("import torch\n").findings
()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.finding import (
        Certainty,
        Edit,
        Finding,
        Fix,
        InputError,
        Related,
        Safety,
        Severity,
        Span,
    )
    from devicelint.fixes import Fixed
    from devicelint.linter.result import CheckResult
    from devicelint.rules import Report, Rule
    from devicelint.text.parse import CheckError

__version__ = "0.1.0"

__all__ = [
    "Certainty",
    "CheckError",
    "CheckResult",
    "Config",
    "Edit",
    "Finding",
    "Fix",
    "Fixed",
    "InputError",
    "Related",
    "Report",
    "Rule",
    "Safety",
    "Severity",
    "Span",
    "check",
    "explain",
    "fix",
    "reveal_device",
]

_Value = TypeVar("_Value")

_HOMES = {
    "CheckError": "text.parse",
    "CheckResult": "linter.result",
    "Config": "config",
    "Fixed": "fixes",
    "Report": "rules",
    "Rule": "rules",
}

_RENAMED = {"Checked": "CheckResult"}
"""Old names of the public interface, with the new ones: kept for one release."""


def check(source: str, filename: str = "<string>", config: Config | None = None) -> CheckResult:
    """Find the device mistakes in the text of a Python file, or of the notebook `filename`.

    Returns a `CheckResult`, whose `findings` are in the order of the text.  Raises `CheckError` (an
    `InputError`) with path, line and column where the text is no Python, and an `InputError` where
    it is no notebook.
    """
    from devicelint.linter import lint
    from devicelint.text.source import SourceFile

    return lint.check(SourceFile.from_text(source, filename), config)


def fix(source: str, filename: str = "<string>", config: Config | None = None) -> Fixed:
    """Fix the device mistakes in the text of a Python file, or of the notebook `filename`.

    Safe fixes are made, and unsafe ones too where `config.unsafe_fixes` is set.  Returns a
    `Fixed`, whose `after.text` is the new text, and `after.to_bytes()` the new file, which is
    another thing for a notebook.  Raises `CheckError` as `check` does.
    """
    from devicelint.linter import lint
    from devicelint.text.source import SourceFile

    return lint.fix(SourceFile.from_text(source, filename), config)


def explain(rule: str) -> str:
    """The page of a rule, by its code or name, as Markdown.

    Raises `KeyError` where there is no such rule.
    """
    from devicelint.rule_index import facts_named

    found = facts_named(rule)
    if found is None:
        raise KeyError(rule)
    return found.documentation()


def reveal_device(value: _Value) -> _Value:
    """Ask devicelint where a value is; when the program runs, this returns the value."""
    return value


def __getattr__(name: str) -> Any:
    """The classes of the public interface, imported when they are first asked for."""
    if name in _RENAMED:
        name = _renamed(name)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'finding')}"), name)


def _renamed(old: str) -> str:
    """The new name of a class, with a warning where somebody still uses the old one."""
    import warnings

    new = _RENAMED[old]
    message = f"devicelint.{old} is now devicelint.{new}; the next release drops the old name"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    return new
