"""What a rule of a plug-in must be, reported in one line where it is not."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from itertools import combinations, product
from pathlib import Path

from devicelint.api import EVENTS
from devicelint.finding import Severity
from devicelint.plugins._plugin import InstalledPlugin, PluginError
from devicelint.rule_index import RULES
from devicelint.rules import Rule
from devicelint.rules._listening import event_of, methods_of
from devicelint.text.selectors import hint

_CODE = re.compile(r"(?P<prefix>[A-Z]{2,3})[0-9]{3}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
_OURS = "DEV"


def examine(rule: type[Rule]) -> None:
    """Refuse a class that is no rule; raises PluginError."""
    for problem in _problems(rule):
        raise PluginError("", f"{rule.__module__}.{rule.__qualname__} {problem}")


def _problems(rule: type[Rule]) -> Iterator[str]:
    yield from _problems_of_attributes(rule)
    methods = methods_of(rule)
    if not methods:
        yield "hears nothing: it has no method on_…"
    for method in methods:
        if (event := event_of(method)) not in EVENTS:
            yield f"has a method {method}, but there is no event {event}{hint(event, EVENTS)}"
    page = page_path(rule)
    if not page.is_file():
        yield f"has no page: there is no file {page}"
    elif not page_of(rule).startswith(f"# {rule.name} ({rule.code})\n"):
        yield f'has a page that does not begin with "# {rule.name} ({rule.code})": {page}'
    try:
        rule.for_torch(None)
    except TypeError as error:
        yield f"cannot be made without arguments: {error}"


def _problems_of_attributes(rule: type[Rule]) -> Iterator[str]:
    code, name = getattr(rule, "code", None), getattr(rule, "name", None)
    if not isinstance(code, str) or not (written := _CODE.fullmatch(code)):
        yield f"must have a code of two or three capitals and three digits, not {code!r}"
    elif _collide(written["prefix"], _OURS):
        yield f"has the code {code}, but codes that begin with {written['prefix']} are devicelint's"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"must have a name of small words with hyphens between, not {name!r}"
    if not isinstance(getattr(rule, "severity", None), Severity):
        yield f"must have a severity, a Severity, not {getattr(rule, 'severity', None)!r}"
    summary = getattr(rule, "summary", None)
    if not isinstance(summary, str) or not summary.strip() or "\n" in summary:
        yield f"must have a summary of one line, not {summary!r}"
    if not isinstance(rule.default, bool):
        yield f"must be on by default, or not: default is {rule.default!r}"


def refuse_collisions(plugins: Iterable[InstalledPlugin]) -> None:
    """Refuse two rules with one name, and two plug-ins whose codes begin alike."""
    plugins = tuple(plugins)
    for one, other in combinations(plugins, 2):
        if one.distribution == other.distribution:
            continue
        for prefix, its in product(_prefixes(one), _prefixes(other)):
            if _collide(prefix, its):
                message = f"has codes that begin with {its}; {one} has those with {prefix}"
                raise PluginError(str(other), message)
    taken = {facts.name: facts.code for facts in RULES}
    for plugin in plugins:
        for rule in plugin.rules:
            if rule.name in taken or rule.code in taken.values():
                message = f"{rule.code} {rule.name}"
                raise PluginError(
                    str(plugin), f"there are two rules with a name or code of {message}"
                )
            taken[rule.name] = rule.code


def _prefixes(plugin: InstalledPlugin) -> set[str]:
    return {rule.code.rstrip("0123456789") for rule in plugin.rules}


def _collide(one: str, other: str) -> bool:
    """Whether the beginning of a code could mean both."""
    return one.startswith(other) or other.startswith(one)


def page_path(rule: type[Rule]) -> Path:
    """Where the page of a rule must be: beside its module."""
    file = sys.modules[rule.__module__].__file__ or ""
    return Path(file).with_name(f"{rule.name.replace('-', '_')}.md")


def page_of(rule: type[Rule]) -> str:
    """The page of a rule."""
    return page_path(rule).read_text(encoding="utf-8")
