"""From an entry point to the rules that it names."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

from devicelint.crash import error_in_one_line
from devicelint.plugins._examining import examine, page_path
from devicelint.plugins._plugin import InstalledPlugin, PluginError
from devicelint.rules import Rule


def plugin_of(point: EntryPoint) -> InstalledPlugin:
    """The rules of an entry point; raises PluginError where one of them is none."""
    dist = point.dist
    plugin = InstalledPlugin(point.name, f"{dist.name} {dist.version}" if dist else point.value)
    try:
        rules = tuple(_rules_of(point.load(), point.value))
        for rule in rules:
            examine(rule)
    except PluginError as error:
        raise PluginError(str(plugin), error.message) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it does when it is imported
        raise PluginError(str(plugin), f"cannot be loaded: {error_in_one_line(error)}") from None
    for rule in rules:
        rule.plugin = str(plugin)
    return replace(plugin, rules=rules)


def _rules_of(loaded: object, named: str) -> Iterator[type[Rule]]:
    """A class alone; of a module, the rules that it defines; of a package, its modules' too."""
    if isinstance(loaded, type) and issubclass(loaded, Rule) and loaded is not Rule:
        yield loaded
        return
    if not isinstance(loaded, ModuleType):
        raise PluginError("", f"{named} is neither a module nor a class derived from Rule")
    found = [rule for module in _modules(loaded) for rule in _defined_in(module)]
    if not found:
        raise PluginError("", f"{named} defines no rule: no class in it derives from Rule")
    yield from found


def _modules(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not inner.name.startswith("_"):
            yield import_module(f"{module.__name__}.{inner.name}")


def _defined_in(module: ModuleType) -> Iterator[type[Rule]]:
    for name, each in vars(module).items():
        is_rule = isinstance(each, type) and issubclass(each, Rule)
        if is_rule and each.__module__ == module.__name__ and not name.startswith("_"):
            yield each


def files_of(plugin: InstalledPlugin) -> list[Path]:
    """The modules and pages of a plug-in: those of the packages that its rules are in."""
    found: set[Path] = set()
    for rule in plugin.rules:
        top = sys.modules[rule.__module__.partition(".")[0]]
        for folder in getattr(top, "__path__", ()):
            found.update(each for each in Path(folder).rglob("*.*") if each.suffix in _READ)
        if not hasattr(top, "__path__") and top.__file__ is not None:
            beside = Path(top.__file__)
            found.update((beside, page_path(rule)))
    return sorted(found)


_READ = (".md", ".py")
