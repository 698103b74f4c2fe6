"""Values made from what the configuration says of a name."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from devicelint.domain.assumptions import AssumedKind, Assumption, Thing
from devicelint.domain.devices import (
    NOWHERE,
    Device,
    InvalidDevice,
    Opaque,
    is_accelerator,
    parse_device,
)
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    ARRAY,
    HOST,
    Batch,
    DeviceHandle,
    DictOf,
    ListOf,
    Loader,
    Module,
    Placed,
    Ref,
    Tensor,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.fields import ELEMENT

_MODULE = "assumed.Module_"
"""Under which name knowledge has what is assumed to be a module."""


@dataclass(frozen=True)
class Maker:
    """Makes what is assumed at a place of the code."""

    run: Run
    site: cst.CSTNode
    assumption: Assumption

    def held(self, ref: Ref) -> Value:
        """What is assumed; what of it has identity lies in the state under `ref`, once."""
        return self._made(self.assumption.thing, ref)

    def _made(self, thing: Thing, ref: Ref) -> Value:
        match thing.kind:
            case AssumedKind.BATCHES:
                return Loader(self._batch(thing, Verb.LOADED), pinned=False, site=self.site)
            case AssumedKind.BATCH:
                return self._batch(thing, Verb.ASSUMED)
            case AssumedKind.TENSOR | AssumedKind.SCALAR:
                place = self._placed(thing, Verb.ASSUMED)
                return Tensor(place.device, place.since, thing.kind is AssumedKind.SCALAR)
            case AssumedKind.MODULE:
                return self._module(thing, ref)
            case AssumedKind.DEVICE:
                device = Opaque(self.assumption.name) if not thing.device else self._device(thing)
                return DeviceHandle(device, self.site)
            case AssumedKind.NUMBER:
                return HOST
            case AssumedKind.ARRAY:
                return ARRAY
            case AssumedKind.LIST | AssumedKind.DICT:
                return self._container(thing, ref)
            case AssumedKind.TUPLE:
                return Tuple(
                    tuple(self._made(one, f"{ref}/{n}") for n, one in enumerate(thing.items))
                )

    def _module(self, thing: Thing, ref: Ref) -> Module:
        place = self._placed(thing, Verb.ASSUMED)
        if self.run.state.read(ref, DEVICE_FIELD) is None:
            self.run.state.write(ref, DEVICE_FIELD, place)
        return Module(ref, _MODULE, place.since)

    def _container(self, thing: Thing, ref: Ref) -> Value:
        if self.run.state.read(ref, ELEMENT) is None:
            self.run.state.write(ref, ELEMENT, self._made(thing.items[0], f"{ref}/0"))
        made = ListOf if thing.kind is AssumedKind.LIST else DictOf
        return made(ref, self.site)

    def _batch(self, thing: Thing, verb: Verb) -> Batch:
        place = self._placed(thing, verb)
        return Batch(place.device, place.since)

    def _placed(self, thing: Thing, verb: Verb) -> Placed:
        device = self._device(thing)
        return Placed(device, Step(verb, self.site, device, assumed=self.assumption.place))

    def _device(self, thing: Thing) -> Device:
        """An accelerator is nowhere on a machine without one."""
        try:
            device = parse_device(thing.device)
        except InvalidDevice:
            return Opaque(thing.device)
        away = is_accelerator(device) and not self.run.world.accelerators
        return NOWHERE if away else device
