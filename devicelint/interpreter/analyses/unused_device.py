"""Devices that a script chooses, and that its model never gets to: it trains on the CPU instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.domain.devices import CPU, Device
from devicelint.domain.events import Event
from devicelint.domain.history import Site, Verb
from devicelint.domain.training_events import DeviceUnused
from devicelint.domain.values import Const, DeviceHandle, Flag, Module, Ref, Value
from devicelint.interpreter.analyses.unused_reads import handed_out, is_idle, is_idle_attribute
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import is_device_option
from devicelint.interpreter.facts.mentions import mentions_in
from devicelint.interpreter.facts.name_uses import (
    Reads,
    assigned,
    holders_of,
    is_conditional,
    reads_of,
)
from devicelint.interpreter.facts.named_devices import names_accelerator
from devicelint.interpreter.python.conditions import AVAILABLE


@dataclass(frozen=True)
class _Choice:
    """Where a device is chosen, and what holds it."""

    site: Site
    name: str
    device: Device | None
    is_option: bool = False


@analysis
class UnusedDevice(Analysis):
    """Notes what chooses a device, and which of the trained modules were never moved."""

    serves = frozenset({DeviceUnused})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._given: dict[Site, Value] = {}
        """What may choose a device, by the statement that gives it a name."""
        self._trained: dict[Ref, tuple[Module, bool, Site]] = {}
        """The modules that optimizers step over: whether they were never moved, and the step."""

    def on_assigned(self, value: Value) -> None:
        """Remember what may choose a device."""
        if isinstance(value, (Const, DeviceHandle, Flag)) and self.run.frame.is_checked:
            self._given[self.run.frame.statement] = value

    def on_optimizer_stepped(self, module: Module, site: cst.Call) -> None:
        """An optimizer steps over a module: one that was ever moved is not left behind."""
        is_left = _is_left(self.run, module, frozenset())
        if module.ref not in self._trained or not is_left:
            self._trained[module.ref] = (module, is_left, site)

    def at_end(self) -> Iterator[Event]:
        """The device that none of the models is brought to which the program trains."""
        run = self.run
        if not run.world.accelerators or not self._trained:
            return
        if run.world.settings and _moves_anything(run):
            return  # What is moved under other settings is not left behind.
        if not all(is_left for _, is_left, _ in self._trained.values()):
            return
        module, _, step = next(iter(self._trained.values()))
        for choice in self._choices():
            chosen = (choice.site, choice.name, choice.device)
            yield DeviceUnused(*chosen, module, step, choice.is_option)
            return

    def _choices(self) -> Iterator[_Choice]:
        """The devices that the file chooses and does nothing with, then the options."""
        reads = reads_of(self.run.module)
        found: dict[str, _Choice] = {}
        others: set[str] = set()
        for name, statement in assigned(reads):
            value = self._given.get(statement)
            if _is_used_elsewhere(reads, statement.value):
                others.add(name)
            elif value is not None and _is_choice(value):
                device = value.device if isinstance(value, DeviceHandle) else None
                found[name] = _Choice(statement, name, device)
            elif not is_conditional(reads, statement):
                others.add(name)
        idle = (one for one in found.items() if one[0] not in others and _is_idle(reads, one[0]))
        yield from (choice for _, choice in idle)
        yield from _options(reads)


def _moves_anything(run: Run) -> bool:
    mentions = mentions_in(run.module)
    return mentions.calls(("to", "cuda", "xpu")) or "device" in mentions.keywords


def _is_left(run: Run, module: Module, seen: frozenset[Ref]) -> bool:
    """Whether neither a module nor any of its parts was moved since it was built on the CPU."""
    place = module_device(run, module)
    if place.device != CPU or place.since.verb is Verb.MOVED:
        return False
    inner = [one for one in run.state.fields(module.ref).values() if isinstance(one, Module)]
    return all(one.ref in seen or _is_left(run, one, seen | {module.ref, one.ref}) for one in inner)


def _is_used_elsewhere(reads: Reads, value: cst.BaseExpression) -> bool:
    """Whether a value is another name for what is chosen, and maybe used, somewhere else."""
    if isinstance(value, cst.Attribute):
        return not is_idle_attribute(reads, value.attr.value)
    return isinstance(value, cst.Name)


def _is_idle(reads: Reads, name: str) -> bool:
    owner, _, attribute = name.rpartition(".")
    return is_idle_attribute(reads, attribute) if owner else is_idle(reads, name)


def _is_choice(value: Value) -> bool:
    """Whether an accelerator is chosen, or may be: what is asked for is meant to be used."""
    if isinstance(value, Flag):
        return value.key == AVAILABLE and not value.negated
    return names_accelerator(value)


def _options(reads: Reads) -> Iterator[_Choice]:
    """`parser.add_argument("--device")`, where nothing reads `args.device`."""
    parsed = list(holders_of(reads, "parse_args"))
    if not parsed or any(name is None or handed_out(reads, name) for name in parsed):
        return
    for node in reads.around:
        if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
            continue
        if node.func.attr.value == "add_argument":
            option = _option(node)
            name = option.lstrip("-").replace("-", "_")
            if is_device_option(name) and not reads.attributes.get(name):
                yield _Choice(node, option, None, is_option=True)


def _option(call: cst.Call) -> str:
    """The long name of an option; empty where its value goes under another one."""
    if any(one.keyword is not None and one.keyword.value == "dest" for one in call.args):
        return ""
    written = [one.value for one in call.args if one.keyword is None]
    names = [one.evaluated_value for one in written if isinstance(one, cst.SimpleString)]
    return next((str(one) for one in names if str(one).startswith("--")), "")
