"""Rules that other distributions bring, by the entry points `devicelint.rules`.

A plug-in that is none is refused as a whole, with what is wrong with it: a check that leaves out
rules in silence would be worse than none.
"""

from __future__ import annotations

from functools import cache

from devicelint.plugins._plugin import InstalledPlugin, PluginError
from devicelint.rule_index import GROUP, RuleFacts, any_installed
from devicelint.rules import Rule, all_rules

__all__ = ["InstalledPlugin", "PluginError", "every_rule", "facts", "identity", "plugins"]


def plugins() -> tuple[InstalledPlugin, ...]:
    """The plug-ins that are installed; raises PluginError for one that is none."""
    found = _loaded()
    if isinstance(found, PluginError):
        raise found
    return found


def every_rule() -> tuple[type[Rule], ...]:
    """The rules of devicelint and those of plug-ins, by code."""
    plugged = (rule for plugin in plugins() for rule in plugin.rules)
    return tuple(sorted((*all_rules(), *plugged), key=lambda rule: rule.code))


def facts() -> tuple[RuleFacts, ...]:
    """What is known of the rules of plug-ins."""
    from devicelint.plugins._examining import page_of

    return tuple(RuleFacts.of(rule, page_of(rule)) for plugin in plugins() for rule in plugin.rules)


def identity() -> str:
    """What changes when a plug-in does: its distribution, or the text of its modules."""
    import hashlib

    from devicelint.plugins._loading import files_of

    hashed = hashlib.sha256()
    for plugin in plugins():
        hashed.update(f"{plugin}\0".encode())
        for file in files_of(plugin):
            hashed.update(file.read_bytes() + b"\0")
    return hashed.hexdigest()


@cache
def _loaded() -> tuple[InstalledPlugin, ...] | PluginError:
    """Every plug-in, loaded once; or what is wrong with the first that is none."""
    if not any_installed():
        return ()
    # Heavy, and nothing that a check needs where there are none.
    from importlib.metadata import entry_points

    from devicelint.plugins._examining import refuse_collisions
    from devicelint.plugins._loading import plugin_of

    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    try:
        found = tuple(map(plugin_of, points))
        refuse_collisions(found)
    except PluginError as error:
        return error
    return found
