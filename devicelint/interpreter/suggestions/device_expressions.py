"""How a device is written at one place of the program, with the names that are bound there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Known, Opaque, Unsure
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    Batch,
    Const,
    DeviceHandle,
    HostValue,
    Instance,
    LibraryObject,
    Module,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import USUAL_NAMES, holds_device
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.interpreter.facts.tensor_parameters import is_doubted
from devicelint.interpreter.suggestions.walk_notes import ConditionalMoves
from devicelint.interpreter.suggestions.written_devices import (
    device_of_creation,
    is_choice,
    root,
    roots,
)

_WITH_WEIGHT = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding "
    "BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm Bilinear EmbeddingBag".split()
)


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

        What the function itself has at hand comes before the file's own variables.
        """
        if isinstance(device, Unsure):
            return None
        return (
            named_device(self._own().items(), device)
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
        if isinstance(call, cst.Call) and (spelled is None or _names_variable(call)):
            same = all(self._means_the_same(argument.value, device) for argument in call.args)
            if same and (spelled or not self._is_guarded(call, place)):
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
        if given is not None and is_choice(given) and self._means_the_same(given, device):
            return f".to({self._run.code_of(given)})"
        is_hard = given is None or isinstance(given, (cst.BaseString, cst.Call))
        hard = is_hard and isinstance(device, Known) and not self._is_guarded(made, place)
        return f'.to("{device}")' if hard else None

    def _is_guarded(self, move: Site, place: Site) -> bool:
        """Whether a condition guards a move that does not guard a place.

        What comes later in the block of the move is under the same condition, and so are other
        methods of a class, where the condition is that of who calls them.
        """
        if move not in self._run.hearer(ConditionalMoves).moves:
            return False
        assert isinstance(move, cst.CSTNode)
        around = reads_of(self._run.module).around
        inner: cst.CSTNode = move
        while (outer := around.get(inner)) is not None:
            if isinstance(outer, cst.IfExp) and inner is not outer.test:
                return True
            if isinstance(outer, cst.IndentedBlock):
                later = outer.body[outer.body.index(inner) :]
                if any(place is one for part in later for one in descendants(part)):
                    return False
            if isinstance(outer, cst.FunctionDef):
                break
            inner = outer
        method = (
            None
            if outer is None or move in self._run.hearer(ConditionalMoves).here
            else around.get(outer)
        )
        return method is None or not _is_in_class(method, around, place)

    def of_value(self, value: Value, site: Site) -> str | None:
        """An expression for the device of a value that `site` names here: `x.device`."""
        if not isinstance(site, (cst.Name, cst.Attribute)) or not self._is_bound(root(site)):
            return None
        code = self._run.code_of(site)
        if isinstance(value, (Tensor, Symbolic)):
            return f"{code}.device"
        if isinstance(value, (Module, Placed)):
            return f"next({code}.parameters()).device"
        return None

    def _is_bound(self, name: str) -> bool:
        """Whether a name has its value by now; what the frame does not bind came from outside."""
        return self._moment is None or self._frame.last_bound.get(name, -1) <= self._moment

    def _own(self) -> Mapping[str, Value]:
        """The names of the frame itself, those of a frame that was left included."""
        fields = self._frame.left_with or self._run.state.fields(self._frame.ref)
        if self._moment is None:
            return fields
        first = self._frame.first_bound
        return {n: v for n, v in fields.items() if first.get(n, -1) <= self._moment}

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
        fields = self._run.state.fields(receiver.ref)
        named = named_device(fields.items(), device)
        if named is not None:
            return f"self.{named}"
        if not isinstance(receiver, Module) or self._frame.name == "__init__":
            return None
        for name, value in fields.items():
            if isinstance(value, Tensor) and value.role and value.device == device:
                return f"self.{name}.device"
        for name, value in fields.items():
            if not isinstance(value, Module) or value.name.rpartition(".")[2] not in _WITH_WEIGHT:
                continue
            if module_device(self._run, value).device == device:
                return f"self.{name}.weight.device"
        follows = module_device(self._run, receiver).device == device
        return "next(self.parameters()).device" if follows else None

    def _global_variable(self, device: Device) -> str | None:
        names: dict[str, Value] = {}
        for ref in (self._frame.home, *reversed(self._frame.scopes)):
            if ref != self._frame.ref:
                names.update(self._run.state.fields(ref))
        return named_device(names.items(), device)

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
        if not all(map(self._is_bound, roots(node))):
            return False
        outer, self._run.frame = self._run.frame, self._frame
        with self._run.muted():
            value = self._run.evaluate(node)
        self._run.frame = outer
        if isinstance(value, Symbolic):
            return isinstance(device, Opaque) and value.origin == device.origin
        return _gives(value, device)


def _names_variable(move: cst.Call) -> bool:
    """Whether a move names a variable, and no accelerator itself."""
    return any(isinstance(one.value, (cst.Name, cst.Attribute)) for one in move.args)


def named_device(fields: Iterable[tuple[str, Value]], device: Device | None) -> str | None:
    """A variable that holds the device (any device: None), the usual name before others."""
    held = list(fields)
    names = [name for name, value in held if _gives(value, device) or _counts(name, value, device)]
    usual = next((name for name in USUAL_NAMES if name in names), None)
    return usual or min(names, default=None)


def _counts(name: str, value: Value, device: Device | None) -> bool:
    """Whether a name that is for devices holds the number of one: `gpu_id = 0`."""
    number = value.value if isinstance(value, Const) else None
    if type(number) is not int or not holds_device(name):
        return False
    return device == Known("cuda", number)


def _gives(value: Value, device: Device | None) -> bool:
    if isinstance(value, Const):
        return isinstance(device, Known) and value.value == str(device)
    if isinstance(value, Symbolic):
        return isinstance(device, Opaque) and value.origin == device.origin
    if not isinstance(value, DeviceHandle) or isinstance(value.device, Unsure):
        return False
    return device is None or device == value.device


def _is_in_class(body: cst.CSTNode, around: Mapping[cst.CSTNode, cst.CSTNode], place: Site) -> bool:
    """Whether a block is the body of a class in which a place stands."""
    return isinstance(around.get(body), cst.ClassDef) and any(
        place is one for one in descendants(body)
    )
