"""How a device is written at one place of the program, with the names that are bound there."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Known, Opaque, Unsure
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    Batch,
    DeviceHandle,
    HostValue,
    Instance,
    LibraryObject,
    Module,
    OneOf,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.host_callers import TRAINED, library_bases
from devicelint.interpreter.facts.tensor_parameters import is_doubted
from devicelint.interpreter.suggestions.device_names import (
    device_by_name,
    gives,
    kept_setting,
    named_by_count,
    named_device,
)
from devicelint.interpreter.suggestions.guarded_places import is_guarded
from devicelint.interpreter.suggestions.seen_attributes import keeps
from devicelint.interpreter.suggestions.written_devices import (
    device_of_creation,
    is_choice,
    names_variable,
    root,
    roots,
)

_WITH_WEIGHT = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding "
    "BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm Bilinear EmbeddingBag".split()
)


_MAY_BE = (Batch, Module, OneOf, Placed, Symbolic, Tensor, Unknown)
"""What a name may hold of which a value is known."""
_MAY_NAME = (DeviceHandle, HostValue, Unknown)
"""What a name may hold that a device nobody can read is called after."""


class Spelling:
    """The ways to write a device in a frame; `moment` leaves out what is bound after it."""

    def __init__(self, run: Run, frame: Frame, moment: int | None = None) -> None:
        self._run = run
        self._frame = frame
        self._moment = moment

    def of(self, device: Device) -> str | None:
        """An expression that gives this device here, or None where nothing does.

        What the function itself has at hand comes before the file's own variables.  A name that
        asks how many accelerators there are is none of it: with more of them it is another device.
        """
        if isinstance(device, Unsure):
            return None
        return (
            self._named(self._own(), device)
            or self._parameter_on(device)
            or self._attribute_of_self(device)
            or self._global_variable(device)
            or self._tool_on(device)
            or self._origin(device)
            or self._local_on(device)
        )

    def move_to(self, device: Device, since: Step | None, place: Site = None) -> str | None:
        """What to append to an expression to bring it to a device, in the file's own style.

        `since` is the step that brought the other value there: its spelling is taken over where
        all its names mean the same here.  What names an accelerator itself is taken over only
        where nothing else gives the device, and no condition guards it but those that guard
        `place`: it would fail on a machine without one.
        """
        call = since.site if since is not None and since.verb is Verb.MOVED else None
        spelled = self.of(device)
        if isinstance(call, cst.Call) and (spelled is None or names_variable(call)):
            same = all(self._means_the_same(argument.value, device) for argument in call.args)
            if same and (spelled or not is_guarded(self._run, call, place)):
                assert isinstance(call.func, cst.Attribute)
                given = ", ".join(self._run.code_of(one.value) for one in call.args[:1])
                return f".{call.func.attr.value}({given})"
        if spelled is not None:
            return f".to({spelled})"
        is_created = since is not None and since.verb is Verb.CREATED_ON
        return self._as_created(device, since.site, place) if since and is_created else None

    def _as_created(self, device: Device, made: Site, place: Site) -> str | None:
        """The device that a creation is given, where that is the same here, or written out."""
        given = device_of_creation(made)
        is_named = isinstance(given, cst.Name | cst.Attribute | cst.IfExp | cst.Subscript)
        is_later = self._moment is None and isinstance(given, cst.Name | cst.Attribute)
        if given is not None and is_named and not is_later and self._means_the_same(given, device):
            return f".to({self._run.code_of(given)})"
        # `torch.cuda.FloatTensor(2)`; a name may stand for it on some machines alone.
        is_typed = isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute)
        is_hard = is_typed if given is None else isinstance(given, (cst.BaseString, cst.Call))
        hard = is_hard and isinstance(device, Known) and not is_guarded(self._run, made, place)
        return f'.to("{device}")' if hard else None

    def of_value(self, value: Value, site: Site) -> str | None:
        """An expression for the device of a value that `site` names here: `x.device`."""
        if not isinstance(site, (cst.Name, cst.Attribute)) or not self._names(site, value):
            return self._beside(site, value)
        code = self._run.code_of(site)
        if isinstance(value, (Tensor, Symbolic)):
            return f"{code}.device"
        if isinstance(value, (Module, Placed)):
            return f"next({code}.parameters()).device"
        return None

    def _beside(self, site: Site, value: Value) -> str | None:
        """`y.device`, where a local name holds the same tensor, or what it is computed from."""
        if self._moment is None or not isinstance(value, Tensor):
            return None
        held = ((n, v) for n, v in self._own().items() if isinstance(v, Tensor))
        return device_by_name({n: v for n, v in held if self._is_bound(n)}, site, value)

    def _names(self, site: cst.Name | cst.Attribute, value: Value) -> bool:
        """Whether a place names a value itself, by names that have theirs, and no list of it."""
        name = root(site)
        if not name or not self._is_bound(name):
            return False
        if isinstance(site, cst.Attribute):
            return True
        is_held = any(name in fields for fields in self._scopes())
        return not is_held or isinstance(self._evaluated(site), (type(value), *_MAY_BE))

    def _evaluated(self, node: cst.BaseExpression) -> Value:
        outer, self._run.frame = self._run.frame, self._frame
        with self._run.muted():
            value = self._run.evaluate(node)
        self._run.frame = outer
        return value

    def _is_bound(self, name: str) -> bool:
        """Whether a name has its value by now; what the frame does not bind came from outside."""
        if self._moment is None:
            return True
        frame, moment = self._frame, self._moment
        last = frame.last_bound.get(name, -1)
        is_bound_anew = last == moment + 1 and frame.first_bound[name] <= moment
        return last <= moment or is_bound_anew

    def _is_in_sight(self, name: str) -> bool:
        return any(name in fields for fields in self._scopes())

    def _own(self) -> Mapping[str, Value]:
        """The names of the frame itself, those of a frame that was left included."""
        fields = self._frame.left_with or self._run.state.fields(self._frame.ref)
        if self._moment is None:
            return fields
        first = self._frame.first_bound
        return {n: v for n, v in fields.items() if first.get(n, -1) <= self._moment}

    def _named(self, fields: Mapping[str, Value], device: Device) -> str | None:
        return named_device(fields.items(), device, named_by_count(self._run.module))

    def _parameter_on(self, device: Device) -> str | None:
        """`x.device`, for a tensor that the function received."""
        node = self._frame.node
        if not isinstance(node, cst.FunctionDef):
            return None
        fields = self._own()
        for parameter in (*node.params.posonly_params, *node.params.params):
            name = parameter.name.value
            value = fields.get(name)
            place = getattr(value, "device", None)
            if isinstance(value, Symbolic) and name in (value.origin, value.parameter):
                place = None if is_doubted(self._run, name) else DeviceOf(value.origin)
            is_tensor = isinstance(value, (Tensor, Batch, Symbolic))
            since = getattr(value, "since", None)
            unmoved = self._frame.bindings.get(name) is None or since in self._frame.passed
            if is_tensor and unmoved and place == device:
                return f"{name}.device"
        return None

    def _local_on(self, device: Device) -> str | None:
        """`y.device`, for a tensor that this function has made of what it received."""
        if self._moment is None or not isinstance(device, DeviceOf):
            return None
        held = self._own().items()
        names = (n for n, v in held if isinstance(v, Tensor) and v.device == device)
        return next((f"{name}.device" for name in names if self._is_bound(name)), None)

    def _attribute_of_self(self, device: Device) -> str | None:
        receiver = self._frame.receiver
        if not isinstance(receiver, (Module, Instance)):
            return None
        fields = self._stored(self._run.state.fields(receiver.ref))
        named = self._named(fields, device)
        if named is not None:
            return f"self.{named}"
        kept = kept_setting(fields, device)
        if kept is not None:
            return f"self.{kept}"
        if not isinstance(receiver, Module) or self._frame.name == "__init__":
            return None
        follows = module_device(self._run, receiver).device == device
        if follows and self._is_trained():
            return "self.device"
        for name, value in fields.items():
            if isinstance(value, Tensor) and value.role and value.device == device:
                return f"self.{name}.device"
        for name, value in fields.items():
            if not isinstance(value, Module) or value.name.rpartition(".")[2] not in _WITH_WEIGHT:
                continue
            if module_device(self._run, value).device == device:
                return f"self.{name}.weight.device"
        return "next(self.parameters()).device" if follows else None

    def _stored(self, fields: Mapping[str, Value]) -> Mapping[str, Value]:
        """The attributes that have their values by now: `__init__` gives some of them later."""
        moment, stored = self._moment, self._run.stored
        if moment is None or self._frame.name != "__init__":
            return fields
        return {name: value for name, value in fields.items() if stored.get(name, -1) <= moment}

    def _is_trained(self) -> bool:
        """Whether this is a method of a LightningModule, which knows its device."""
        return not TRAINED.isdisjoint(library_bases(self._run, self._frame))

    def _global_variable(self, device: Device) -> str | None:
        names: dict[str, Value] = {}
        for ref in (self._frame.home, *reversed(self._frame.scopes)):
            if ref != self._frame.ref:
                names.update(self._run.state.fields(ref))
        return self._named(names, device)

    def _tool_on(self, device: Device) -> str | None:
        """`accelerator.device`, where what chose the device has a name in sight."""
        for fields in self._scopes():
            for name, value in fields.items():
                if isinstance(value, LibraryObject) and value.device == device:
                    return f"{name}.device"
        return None

    def _scopes(self) -> list[Mapping[str, Value]]:
        """What is in sight here, the innermost first."""
        outer = (*self._frame.scopes, self._frame.home)
        return [self._own(), *map(self._run.state.fields, outer)]

    def _origin(self, device: Device) -> str | None:
        if isinstance(device, DeviceOf):
            is_tensor = not (device.is_unseen or is_doubted(self._run, device.place))
            seen = is_tensor and self._sees(device.place)
            return f"{device.place}.device" if seen else None
        if isinstance(device, Opaque) and self._sees(device.origin):
            return device.origin
        return None

    def _sees(self, place: str) -> bool:
        """Whether an origin such as `args.device` starts with a name that is bound here."""
        first = place.partition(".")[0]
        value = next((fields[first] for fields in self._scopes() if first in fields), None)
        if isinstance(value, Symbolic):
            return value.origin == first
        return isinstance(value, _MAY_NAME) or self._keeps(place)

    def _keeps(self, place: str) -> bool:
        """Whether a place is an attribute of the object whose method this is."""
        receiver, (name, _, kept) = self._frame.receiver, place.partition(".")
        if name != "self" or not isinstance(receiver, (Module, Instance)):
            return False
        value = self._run.state.read(receiver.ref, kept)
        return isinstance(value, _MAY_NAME)

    def _means_the_same(self, node: cst.BaseExpression, device: Device) -> bool:
        if isinstance(node, (cst.SimpleString, cst.Integer)):
            return True
        if not (isinstance(node, (cst.Name, cst.Attribute)) or is_choice(node)):
            return False
        if not all(self._is_bound(name) and self._is_in_sight(name) for name in roots(node)):
            return False
        if isinstance(node, cst.Attribute):
            owner = self._evaluated(node.value)
            if not keeps(self._run, owner, node.attr.value):
                return False
        value = self._evaluated(node)
        if isinstance(value, Symbolic):
            return isinstance(device, Opaque) and value.origin == device.origin
        return gives(value, device)
