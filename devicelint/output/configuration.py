"""The configuration of a file: every value and every rule, each with where it is from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from devicelint.config import SETTINGS, Config
from devicelint.config.kinds import PathTo
from devicelint.config.origin import FileOrigin, OptionOrigin, Origin
from devicelint.linter.rule_selection import concerns, decision
from devicelint.output.paint import SEVERITY_STYLES, Paint
from devicelint.output.visible import printable
from devicelint.rule_index import RuleFacts, all_facts


class Reason(NamedTuple):
    """A value, or what a rule is, and what says so."""

    key: str
    item: str
    origin: Origin | None
    """None where it is so by default."""


class RuleDecision(NamedTuple):
    """What becomes of a rule in a file."""

    rule: RuleFacts
    is_on: bool
    why: Reason


def rule_decisions(config: Config, path: str) -> Iterator[RuleDecision]:
    """What becomes of every rule in the file `path`, and what says so."""
    for rule in all_facts():
        made = decision(rule, config)
        on, why = made.on, _reason(config, made.key, made.item)
        if on and not concerns(rule, config.torch_version):
            on, why = False, _reason(config, "torch-version", "")
        pattern = config.ignored_by(rule.code, rule.name, path) if on else None
        if pattern is not None:
            on, why = False, _reason(config, "per-file-ignores", str(pattern))
        yield RuleDecision(rule, on, why)


class Applying(NamedTuple):
    """What is described: a file or folder, and what holds for it."""

    path: str
    config: Config
    around: tuple[tuple[Path, Config], ...] = ()
    """The folders that it is in, and itself, outermost first, each with what holds around it."""
    unread: tuple[Path, ...] = ()
    """Files with settings that another one of their folder overrules."""

    @property
    def passed_over(self) -> Reason | None:
        """What passes it over where folders are searched."""
        for place, config in self.around:
            if (pattern := config.excluding(place)) is not None:
                key = "exclude" if pattern in config.exclude else "extend-exclude"
                return _reason(config, key, str(pattern))
        return None


def _reason(config: Config, key: str, item: str) -> Reason:
    origins = config.origins
    return Reason(key, item, origins.get((key, item), origins.get((key,))))


def render(applying: Applying, paint: Paint) -> str:
    """What applies to a file, for people."""
    return "".join(f"{line}\n" for line in _lines(applying, paint))


def _lines(applying: Applying, paint: Paint) -> Iterator[str]:
    config = applying.config
    yield paint(printable(applying.path), "bold")
    first, *others = (_shown(str(file)) for file in config.files or ("",))
    extending = "".join(f", which extends {other}" for other in others)
    yield f"  settings of {first}{extending}" if config.files else "  no file has settings for it"
    for file in applying.unread:
        yield f"  not those of {_shown(str(file))}: {first} goes before it"
    if passed_over := applying.passed_over:
        yield f"  passed over where folders are searched: {_why(passed_over)}"
    yield ""
    values = [
        (key, shown, _place(origin)) for key in SETTINGS for shown, origin in _values(config, key)
    ]
    yield from _columns(values, paint)
    yield ""
    yield from (_rule_line(each, config, paint) for each in rule_decisions(config, applying.path))


def _values(config: Config, key: str) -> Iterator[tuple[str, Origin | None]]:
    """A value as TOML has it; what is from several places, place by place."""
    setting = SETTINGS[key]
    value = setting.plain(getattr(config, key.replace("-", "_")))
    origin = config.origins.get((key,))
    if isinstance(setting.kind, PathTo) and value is not None:
        yield _toml(_shown(value)), origin
    elif value is None:
        yield setting.unset, origin
    elif isinstance(value, Mapping) and value:
        for name, each in value.items():
            yield f"{_toml(name)} = {_toml(each)}", config.origins.get((key, name), origin)
    elif isinstance(value, list) and value:
        parts: dict[str, tuple[list[object], Origin | None]] = {}
        for each in value:
            its = config.origins.get((key, str(each)), origin)
            parts.setdefault(_place(its, exact=False), ([], its))[0].append(each)
        yield from ((_toml(items), its) for items, its in parts.values())
    else:
        yield _toml(value), origin


def _columns(rows: list[tuple[str, str, str]], paint: Paint) -> Iterator[str]:
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    before = ""
    for key, value, place in rows:
        shown = key if key != before else ""
        before = key
        dim = place if place != _DEFAULT else paint(place, "dim")
        yield f"{shown.ljust(first)}  {value.ljust(min(second, _WIDEST))}  {dim}"


_WIDEST = 40
_DEFAULT = "default"


def _rule_line(decided: RuleDecision, config: Config, paint: Paint) -> str:
    rule = decided.rule
    severity = config.severity_of(rule.code, rule.name, rule.severity)
    word = paint(severity.value.ljust(7), SEVERITY_STYLES[severity]) if decided.is_on else "off    "
    return f"{paint(rule.code, 'bold')}  {word}  {rule.name.ljust(_NAME)}  {_why(decided.why)}"


_NAME = 29
"""How wide the names of rules are set."""


def _why(reason: Reason) -> str:
    if not reason.key:
        return _DEFAULT
    by = f'{reason.key} "{printable(reason.item)}"' if reason.item else f"not in {reason.key}"
    return f"{by}, {_place(reason.origin)}"


def _place(origin: Origin | None, *, exact: bool = True) -> str:
    match origin:
        case FileOrigin():
            return _shown(origin.file) + (f":{origin.location.line}" if exact else "")
        case OptionOrigin():
            return origin.name
        case None:
            return _DEFAULT


def _shown(file: str) -> str:
    """A path from here, where the file is below."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # On another drive.
        return printable(file)
    return printable(file if relative.startswith("..") else relative)


def _toml(value: object) -> str:
    if isinstance(value, Mapping) and value:
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(each)}' for key, each in value.items())} }}"
    return printable(json.dumps(value, ensure_ascii=False))


def as_json(applying: Applying) -> dict[str, Any]:
    """What applies to a file, for programs."""
    config, passed_over = applying.config, applying.passed_over
    return {
        "file": applying.path,
        "settings": [str(file) for file in config.files],
        "overruled": [str(file) for file in applying.unread],
        "excluded": None if passed_over is None else _why_json(passed_over),
        "values": {key: _value_json(config, key) for key in SETTINGS},
        "rules": [_rule_json(decided, config) for decided in rule_decisions(config, applying.path)],
    }


def _value_json(config: Config, key: str) -> dict[str, Any]:
    value = SETTINGS[key].plain(getattr(config, key.replace("-", "_")))
    its = {way[1:]: origin for way, origin in config.origins.items() if way[0] == key}
    items = {way[0]: _origin_json(origin) for way, origin in its.items() if way}
    shown = {"value": value, "origin": _origin_json(config.origins.get((key,)))}
    return {**shown, "items": items} if items else shown


def _rule_json(decided: RuleDecision, config: Config) -> dict[str, Any]:
    rule = decided.rule
    return {
        "code": rule.code,
        "name": rule.name,
        "on": decided.is_on,
        "severity": config.severity_of(rule.code, rule.name, rule.severity).value,
        "because": _why_json(decided.why),
    }


def _why_json(reason: Reason) -> dict[str, Any]:
    return {
        "key": reason.key or None,
        "item": reason.item or None,
        "origin": _origin_json(reason.origin),
    }


def _origin_json(origin: Origin | None) -> dict[str, Any]:
    match origin:
        case FileOrigin():
            line, column, _ = origin.location
            return {"from": "file", "file": origin.file, "row": line, "column": column + 1}
        case OptionOrigin():
            return {"from": "option", "option": origin.name}
        case None:
            return {"from": "default"}
