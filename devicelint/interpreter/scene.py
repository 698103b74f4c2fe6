"""What a rule may ask about the point of the program at which an event happened."""

from __future__ import annotations

import re
from collections.abc import Iterable

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Known, Opaque, Unsure
from devicelint.domain.events import Clash
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    Batch,
    DeviceHandle,
    DictOf,
    External,
    Instance,
    ListOf,
    Module,
    Moved,
    Outside,
    Tensor,
    Value,
)
from devicelint.domain.worlds import World
from devicelint.interpreter.attributes import module_device
from devicelint.interpreter.frame import GLOBALS, Frame
from devicelint.interpreter.run import Run

_ON_PURPOSE = re.compile(
    r"cuda\.(set_device|synchronize|Stream|Event|memory_|max_memory|empty_cache|get_device)"
    r"|init_process_group|backend\s*=\s*.nccl|LOCAL_RANK|load_inline|cpp_extension|triton"
)
_USUAL_NAMES = ("device", "dev", "DEVICE")
_WITH_WEIGHT = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding "
    "BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm Bilinear EmbeddingBag".split()
)


class Scene:
    """The names, the code and the world around an event; only to be asked while it happens."""

    def __init__(self, run: Run, frame: Frame | None = None) -> None:
        self._run = run
        self._frame = run.frame if frame is None else frame

    def at(self, clash: Clash) -> Scene:
        """The scene where the culprit stands, which may be a call further out."""
        assert isinstance(clash.frame, Frame)
        return Scene(self._run, clash.frame)

    @property
    def world(self) -> World:
        """The machine on which this happens."""
        return self._run.world

    def code(self, site: Site) -> str:
        """The source of an expression, as it is written."""
        assert isinstance(site, cst.CSTNode)
        return self._run.code_of(site)

    def torch_name(self) -> str | None:
        """What `torch` is called here, or None where the file does not import it whole."""
        for name, value in self._visible():
            if value == External("torch"):
                return name
        return None

    def device_name(self) -> str | None:
        """A variable that holds a device here, the usual name before others."""
        names = {n for n, v in self._visible() if _is_device(v)}
        usual = next((name for name in _USUAL_NAMES if name in names), None)
        return usual or min(names, default=None)

    def spelling(self, device: Device) -> str | None:
        """An expression that gives this device here, or None where nothing does.

        What the function itself has at hand comes before the file's own variables.
        """
        return (
            self._own_variable(device)
            or self._parameter_on(device)
            or self._attribute_of_self(device)
            or self._global_variable(device)
            or self._origin(device)
        )

    def _own_variable(self, device: Device) -> str | None:
        fields = self._run.state.fields(self._frame.ref)
        return _named(fields.items(), device)

    def _parameter_on(self, device: Device) -> str | None:
        """`x.device`, for a tensor that the function received."""
        node = self._frame.node
        if not isinstance(node, cst.FunctionDef):
            return None
        fields = self._run.state.fields(self._frame.ref)
        for parameter in (*node.params.posonly_params, *node.params.params):
            name = parameter.name.value
            value = fields.get(name)
            place = getattr(value, "device", None)
            if isinstance(value, Outside) and name in (value.origin, value.parameter):
                place = DeviceOf(value.origin)
            is_tensor = isinstance(value, (Tensor, Batch, Outside))
            since = getattr(value, "since", None)
            unmoved = self._frame.bindings.get(name) is None or since in self._frame.passed
            if is_tensor and unmoved and place == device:
                return f"{name}.device"
        return None

    def _attribute_of_self(self, device: Device) -> str | None:
        receiver = self._frame.receiver
        if not isinstance(receiver, (Module, Instance)):
            return None
        fields = self._run.state.fields(receiver.ref)
        named = _named(fields.items(), device)
        if named is not None:
            return f"self.{named}"
        if not isinstance(receiver, Module):
            return None
        for name, value in fields.items():
            if isinstance(value, Tensor) and value.role and value.device == device:
                return f"self.{name}.device"
        for name, value in fields.items():
            if isinstance(value, Module) and self._owns_weight(value):
                if module_device(self._run, value).device == device:
                    return f"self.{name}.weight.device"
        return None

    @staticmethod
    def _owns_weight(module: Module) -> bool:
        return module.name.rpartition(".")[2] in _WITH_WEIGHT

    def _global_variable(self, device: Device) -> str | None:
        names: dict[str, Value] = {}
        for ref in (GLOBALS, *reversed(self._frame.scopes)):
            names.update(self._run.state.fields(ref))
        return _named(names.items(), device)

    def _origin(self, device: Device) -> str | None:
        if isinstance(device, DeviceOf):
            return f"{device.place}.device" if self._sees(device.place) else None
        if isinstance(device, Opaque) and self._sees(device.origin):
            return device.origin
        return None

    def move_to(self, device: Device, since: Step | None) -> str | None:
        """What to append to an expression to bring it to a device, in the file's own style.

        `since` is the step that brought the other value there: its spelling is taken over
        where all its names mean the same here.
        """
        spelled = self.spelling(device)
        if since is not None and since.verb is Verb.MOVED and isinstance(since.site, cst.Call):
            call = since.site
            if all(self._means_the_same(argument.value, device) for argument in call.args):
                assert isinstance(call.func, cst.Attribute)
                arguments = ", ".join(self.code(argument.value) for argument in call.args[:1])
                return f".{call.func.attr.value}({arguments})"
        if spelled is not None:
            return f".to({spelled})"
        return f'.to("{device}")' if isinstance(device, Known) and self._is_hard(since) else None

    def device_of_value(self, value: Value, site: Site) -> str | None:
        """An expression for the device of a value that `site` names here: `x.device`."""
        if not isinstance(site, (cst.Name, cst.Attribute)):
            return None
        code = self.code(site)
        if isinstance(value, (Tensor, Outside)):
            return f"{code}.device"
        if isinstance(value, (Module, Moved)):
            return f"next({code}.parameters()).device"
        return None

    def is_made_here(self, site: Site) -> bool:
        """Whether a tensor was created in this very function, so that names mean the same there."""
        return self._run.made_in.get(site) is self._frame

    def name_of(self, full: str) -> str | None:
        """How the file writes an imported thing here, such as `nn.ModuleList`."""
        visible = {v.name: n for n, v in self._visible() if isinstance(v, External)}
        parts = full.split(".")
        for cut in range(len(parts), 0, -1):
            name = visible.get(".".join(parts[:cut]))
            if name is not None:
                return ".".join([name, *parts[cut:]])
        return None

    def creates_parameter(self, call: cst.Call) -> bool:
        """Whether a call makes an `nn.Parameter`."""
        if not isinstance(call.func, (cst.Name, cst.Attribute)):
            return False
        with self._run.silence():
            callee = self._run.evaluate(call.func)
        return isinstance(callee, External) and callee.name.endswith(".Parameter")

    def assignment_to(self, target: Site) -> Site | None:
        """The statement that assigns to a target, where it was walked."""
        return self._run.assigned_by.get(target)

    def is_statement(self, expression: Site) -> bool:
        """Whether the expression is all that the current statement does."""
        return isinstance(self.statement, cst.Expr) and self.statement.value is expression

    def names_the_device(self, site: Site) -> bool:
        """Whether a literal is the one that names the device of a variable or `torch.device`."""
        return site in self._run.device_literals

    def module_device_name(self) -> str | None:
        """A device variable of the file itself that does not depend on the literal in question."""
        return _named(self._run.state.fields(GLOBALS).items(), None)

    def free_name(self, wanted: str) -> str:
        """A name that nothing in the file binds yet."""
        taken = {name for name, _ in self._visible()}
        while wanted in taken:
            wanted += "_"
        return wanted

    def holds_items(self, place: cst.Subscript) -> bool:
        """Whether an item can be replaced: that of a list or a dict, not a part of a tensor."""
        with self._run.silence():
            owner = self._run.evaluate(place.value)
        return isinstance(owner, (ListOf, DictOf)) or (isinstance(owner, Batch) and owner.whole)

    def is_tried(self) -> bool:
        """Whether the code around is prepared for this to fail."""
        return bool(self._run.expected)

    def reads_again(self, name: cst.Name, statement: cst.CSTNode) -> bool:
        """Whether a local name is read after a statement, or elsewhere in the loop that binds it."""
        word = re.compile(rf"(?<![.\w]){re.escape(name.value)}\b")
        binding = self._frame.bindings.get(name.value)
        own = self.code(statement)
        if isinstance(binding, cst.For):
            around = self._run.module.code_for_node(binding.body)
            return len(word.findall(around)) > len(word.findall(own))
        around = self._run.module.code_for_node(self._frame.node)
        return word.search(around.partition(own)[2]) is not None

    def demands_on_purpose(self) -> bool:
        """Whether the script needs a GPU anyway: it sets one up, or talks to CUDA itself."""
        return _ON_PURPOSE.search(self._run.module_code) is not None

    def bound_by(self, site: Site) -> Site | None:
        """The statement that gave a name its value, where `site` is a local name."""
        if not isinstance(site, cst.Name):
            return None
        return self._frame.bindings.get(site.value)

    def moved_beside(self, statement: Site) -> Site | None:
        """The statement that moves another name which `statement` bound, if one does."""
        return self._run.moved_siblings.get(statement)

    def is_hidden(self, value: Value) -> bool:
        """Whether a module lies in a plain container, where `.to()` does not find it."""
        return isinstance(value, Module) and value.ref in self._run.hidden

    def is_own_module(self, value: Value) -> bool:
        """Whether a value is the object whose method is being walked."""
        return value == self._frame.receiver

    def module_place(self, value: Value) -> Moved | None:
        """Where a Module is, and since when."""
        return module_device(self._run, value) if isinstance(value, Module) else None

    @property
    def statement(self) -> Site:
        """The statement that is being walked."""
        return self._run.frame.statement

    def _visible(self) -> list[tuple[str, Value]]:
        run = self._run
        names: dict[str, Value] = {}
        for ref in (GLOBALS, *reversed(self._frame.scopes), self._frame.ref):
            names.update(run.state.fields(ref))
        return list(names.items())

    def _sees(self, place: str) -> bool:
        """Whether an origin such as `args.device` starts with a name that is bound here."""
        first = place.partition(".")[0]
        return any(
            name == first and isinstance(value, Outside) and value.origin == first
            for name, value in self._visible()
        )

    def _means_the_same(self, node: cst.BaseExpression, device: Device) -> bool:
        if isinstance(node, (cst.SimpleString, cst.Integer)):
            return True
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return False
        outer, self._run.frame = self._run.frame, self._frame
        with self._run.silence():
            value = self._run.evaluate(node)
        self._run.frame = outer
        if isinstance(value, DeviceHandle):
            return value.device == device
        if isinstance(value, Outside):
            return isinstance(device, Opaque) and value.origin == device.origin
        return isinstance(value, type(None))

    def _is_hard(self, since: Step | None) -> bool:
        return since is not None and since.verb is Verb.CREATED_ON


def _named(fields: Iterable[tuple[str, Value]], device: Device | None) -> str | None:
    """A variable that holds the device (any device: None), the usual name before others."""
    names = [
        name
        for name, value in fields
        if isinstance(value, DeviceHandle)
        and not isinstance(value.device, Unsure)
        and (device is None or device == value.device)
    ]
    usual = next((name for name in _USUAL_NAMES if name in names), None)
    return usual or min(names, default=None)


def _is_device(value: Value) -> bool:
    return isinstance(value, DeviceHandle) and not isinstance(value.device, Unsure)
