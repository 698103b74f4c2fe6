"""What a rule may ask about the point of the program at which an event happened."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Known, Opaque, Unsure
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import DeviceHandle, External, Module, Moved, Outside, Tensor, Value
from devicelint.domain.worlds import World
from devicelint.interpreter.attributes import module_device
from devicelint.interpreter.frame import GLOBALS
from devicelint.interpreter.run import Run

_USUAL_NAMES = ("device", "dev", "DEVICE")


class Scene:
    """The names, the code and the world around an event; only to be asked while it happens."""

    def __init__(self, run: Run) -> None:
        self._run = run

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
        """An expression that gives this device here, or None where nothing does."""
        if isinstance(device, DeviceOf):
            return f"{device.place}.device" if self._sees(device.place) else None
        names = sorted(
            (n not in _USUAL_NAMES, n)
            for n, v in self._visible()
            if isinstance(v, DeviceHandle) and v.device == device
        )
        if names:
            return names[0][1]
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

    def own_device_of_module(self) -> str | None:
        """Inside a method of a Module: an expression for where its parameters are."""
        receiver = self._run.frame.receiver
        if not isinstance(receiver, Module):
            return None
        for name, value in self._run.state.fields(receiver.ref).items():
            if isinstance(value, Tensor) and value.role in ("parameter", "buffer"):
                return f"self.{name}.device"
        return "next(self.parameters()).device"

    def bound_by(self, site: Site) -> Site | None:
        """The statement that gave a name its value, where `site` is a local name."""
        if not isinstance(site, cst.Name):
            return None
        return self._run.frame.bindings.get(site.value)

    def moved_beside(self, statement: Site) -> Site | None:
        """The statement that moves another name which `statement` bound, if one does."""
        return self._run.moved_siblings.get(statement)

    def is_own_module(self, value: Value) -> bool:
        """Whether a value is the object whose method is being walked."""
        return value == self._run.frame.receiver

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
        for ref in (GLOBALS, *reversed(run.frame.scopes), run.frame.ref):
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
        with self._run.silence():
            value = self._run.evaluate(node)
        if isinstance(value, DeviceHandle):
            return value.device == device
        if isinstance(value, Outside):
            return isinstance(device, Opaque) and value.origin == device.origin
        return isinstance(value, type(None))

    def _is_hard(self, since: Step | None) -> bool:
        return since is not None and since.verb is Verb.CREATED_ON


def _is_device(value: Value) -> bool:
    return isinstance(value, DeviceHandle) and not isinstance(value.device, Unsure)
