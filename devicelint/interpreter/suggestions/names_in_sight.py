"""What names stand for at an event, as a rule may ask for it."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devicelint.domain.devices import Known
from devicelint.domain.history import Site, Step
from devicelint.domain.values import (
    Batch,
    DictOf,
    ImportedName,
    ListOf,
    Module,
    TensorDict,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.bound_names import is_free
from devicelint.interpreter.facts.named_devices import NamedDevice, devices_at_hand, frame_of
from devicelint.interpreter.python.containers.contents import parts_of
from devicelint.interpreter.torch.bundles import place_of
from devicelint.interpreter.torch.modules.registration import PlainlyKept


class NamesInSight:
    """What names and other expressions stand for where an event happened."""

    def __init__(self, run: Run, frame: Frame) -> None:
        self._run = run
        self._frame = frame

    def torch_name(self) -> str | None:
        """What `torch` is called here, or None where the file does not import it whole."""
        for name, value in self._visible():
            if value == ImportedName("torch"):
                return name
        return None

    def name_of(self, full: str) -> str | None:
        """How the file writes an imported thing here, such as `nn.ModuleList`."""
        visible = {v.name: n for n, v in self._visible() if isinstance(v, ImportedName)}
        parts = full.split(".")
        for cut in range(len(parts), 0, -1):
            name = visible.get(".".join(parts[:cut]))
            if name is not None:
                return ".".join([name, *parts[cut:]])
        return None

    def value_of(self, site: Site) -> Value:
        """What a name or attribute holds here; another expression is not evaluated again."""
        if not isinstance(site, (cst.Name, cst.Attribute)):
            return Unknown("not a name")
        outer, self._run.frame = self._run.frame, self._frame
        with self._run.muted():
            value = self._run.evaluate(site)
        self._run.frame = outer
        return value

    def since_of(self, site: Site) -> Step | None:
        """The step that put there what a name or attribute holds: a tensor, or a bundle of them."""
        value = self.value_of(site)
        held = place_of(self._run, value) if isinstance(value, TensorDict) else value
        since = getattr(held, "since", None)
        return since if isinstance(since, Step) else None

    def parts_of(self, value: Value) -> tuple[Value, ...]:
        """What a sequence or a dict holds: one value for all parts, where they have no number."""
        return parts_of(self._run, value)

    def devices_at_hand(
        self, site: Site, use: Site, wanted: Known
    ) -> tuple[NamedDevice, ...] | None:
        """What holds the wanted device where `site` is an argument; None where it is none."""
        frame = frame_of(self._run, site, use)
        if frame is None:
            return None
        return tuple(devices_at_hand(self._run, frame, wanted))

    def free_name(self, wanted: Iterable[str], site: Site, use: Site) -> str | None:
        """The first name that nothing binds, neither in the file nor where `site` stands."""
        frame = frame_of(self._run, site, use) or self._frame
        return next((name for name in wanted if is_free(self._run, name, frame)), None)

    def holds_items(self, place: cst.Subscript) -> bool:
        """Whether an item can be replaced: that of a list or a dict, not a part of a tensor."""
        with self._run.muted():
            owner = self._run.evaluate(place.value)
        return isinstance(owner, (ListOf, DictOf)) or (isinstance(owner, Batch) and owner.whole)

    def is_hidden(self, value: Value) -> bool:
        """Whether a module lies in a plain container, where `.to()` does not find it."""
        return isinstance(value, Module) and value.ref in self._run.notes(PlainlyKept).refs

    def creates_parameter(self, call: cst.Call) -> bool:
        """Whether a call makes an `nn.Parameter`."""
        if not isinstance(call.func, (cst.Name, cst.Attribute)):
            return False
        with self._run.muted():
            callee = self._run.evaluate(call.func)
        return isinstance(callee, ImportedName) and callee.name.endswith(".Parameter")

    def is_foreign_class(self, func: cst.BaseExpression) -> bool:
        """Whether a call makes an object of a library, or of torch's that samples data."""
        callee = self.value_of(func)
        if not isinstance(callee, ImportedName):
            return False
        root, _, rest = callee.name.partition(".")
        is_foreign = root not in _DEVICE_AWARE or rest.startswith("utils.data.")
        return is_foreign and callee.name.rpartition(".")[2][:1].isupper()

    def foreign_user_of(self, name: Site) -> cst.BaseExpression | None:
        """What another package brings and is given a local name: it may count on its device."""
        if not isinstance(name, cst.Name):
            return None
        for one in descendants(self._frame.node):
            if not isinstance(one, cst.Call) or not any(
                isinstance(given.value, cst.Name) and given.value.value == name.value
                for given in one.args
            ):
                continue
            callee = self.value_of(one.func)
            if (
                isinstance(callee, ImportedName)
                and callee.name.partition(".")[0] not in _DEVICE_AWARE
            ):
                return one.func
        return None

    def _visible(self) -> list[tuple[str, Value]]:
        run = self._run
        names: dict[str, Value] = {}
        for ref in (self._frame.home, *reversed(self._frame.scopes), self._frame.ref):
            names.update(run.state.fields(ref))
        return list(names.items())


_DEVICE_AWARE = frozenset({"torch", "torchvision", "torchaudio", "builtins"})
"""Packages of which devicelint knows what they do with a tensor wherever it is."""
