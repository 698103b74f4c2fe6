"""What a rule may ask about the point of the program at which an event happened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import libcst as cst

from devicelint.domain.devices import Device, Known
from devicelint.domain.events import Clash
from devicelint.domain.history import Site, Step
from devicelint.domain.values import (
    Batch,
    Class,
    DictOf,
    External,
    ListOf,
    Module,
    Unknown,
    Value,
)
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts import intended_machines
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.interpreter.facts.training_loops import training_loop
from devicelint.interpreter.python.containers import parts_of
from devicelint.interpreter.suggestions.device_expressions import Spelling
from devicelint.interpreter.suggestions.device_names import (
    NamedDevice,
    devices_at_hand,
    frame_of,
    is_free,
)
from devicelint.interpreter.suggestions.device_parameters import (
    HandedDown,
    handed_down,
    tensor_given,
)
from devicelint.interpreter.suggestions.sibling_moves import (
    Beside,
    after_its_building,
    as_it_is_kept,
    beside_siblings,
    move_of_neighbour,
)
from devicelint.interpreter.suggestions.walk_notes import (
    AttributeAssignments,
    SiblingMoves,
    UnmovedPart,
    UnmovedParts,
)
from devicelint.interpreter.torch.modules.registration import PlainlyKept


class Scene:
    """The names, the code and the world around an event; only to be asked while it happens."""

    def __init__(self, run: Run, frame: Frame | None = None, moment: int | None = None) -> None:
        self._run = run
        self._frame = run.frame if frame is None else frame
        self._spelling = Spelling(run, self._frame, moment)

    def at(self, clash: Clash) -> Scene:
        """The scene where the culprit stands, which may be a call further out."""
        assert isinstance(clash.frame, Frame)
        return Scene(self._run, clash.frame)

    def is_at(self, clash: Clash) -> bool:
        """Whether this is the frame in which the culprit stands."""
        return clash.frame is self._frame

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

    def spelling(self, device: Device) -> str | None:
        """An expression that gives this device here, or None where nothing does."""
        return self._spelling.of(device)

    def move_to(self, device: Device, since: Step | None, place: Site = None) -> str | None:
        """What to append to an expression at `place` to bring it to a device, as the file would."""
        return self._spelling.move_to(device, since, place)

    def device_of_value(self, value: Value, site: Site) -> str | None:
        """An expression for the device of a value that `site` names here: `x.device`."""
        return self._spelling.of_value(value, site)

    def handed_down(self, device: Device | str, site: Site = None) -> HandedDown | None:
        """How this function could get a device that its callers have, for what is made at `site`.

        A name stands for a device that the leading file is going to have at its top.
        """
        return handed_down(self._run, self._frame, device, site)

    def tensor_given(self, site: Site) -> str | None:
        """A tensor parameter by which what is created at `site` has its size."""
        return tensor_given(self._run, self._frame, site)

    @property
    def leading_file(self) -> str:
        """The absolute path of the file that is checked, and leads the others."""
        return os.path.abspath(self._run.program.path)

    def where_made(self, site: Site) -> Scene | None:
        """The scene in which a tensor or module was created, with the names of that moment."""
        made = self._run.made_in.get(site)
        return None if made is None else Scene(self._run, *made)

    def sees_where_made(self, site: Site) -> bool:
        """Whether a tensor was created in this function, around it, or by the same object."""
        made = self._run.made_in.get(site)
        if made is None:
            return False
        frame, here = made[0], self._frame
        same_object = frame.receiver is not None and frame.receiver == here.receiver
        return same_object or frame.ref in (here.ref, here.home, *here.scopes)

    def where_bound(self, name: cst.Name) -> Scene:
        """The scene right after a local name got its value."""
        moment = self._frame.last_bound.get(name.value)
        return Scene(self._run, self._frame, moment)

    def beside(self, statement: Site) -> tuple[cst.Assign, Scene] | None:
        """The statement that moves another name which `statement` bound, and its scene."""
        found = self._run.hearer(SiblingMoves).moved.get(statement)
        if found is None or not isinstance(found[0], cst.Assign):
            return None
        return found[0], Scene(self._run, self._frame, found[1])

    def move_of_neighbour(self, built: cst.Call, since: Step | None) -> str | None:
        """The move by which an input came where it is, from above in the block of a building."""
        return move_of_neighbour(self._run, built, since)

    def unmoved_part(self, since: Step | None) -> UnmovedPart | None:
        """The part of a tuple by which a value came along, where others in it are moved."""
        return None if since is None else self._run.hearer(UnmovedParts).parts.get(since)

    def beside_siblings(self, built: cst.Call, device: Device) -> Beside | None:
        """Where the module that a call builds is moved with others that are."""
        return beside_siblings(self._run, built, device)

    def after_its_building(self, built: cst.Call, device: Device, move: Site) -> Beside | None:
        """Where a module is moved that was built too early for `device`, or by a condition."""
        return after_its_building(self._run, built, device, move)

    def as_it_is_kept(self, kept: Site, device: Device) -> cst.BaseExpression | None:
        """What is kept in an attribute, where that of the device has got its value before."""
        return as_it_is_kept(self._run, kept, self._spelling.of(device))

    def parts_of(self, value: Value) -> tuple[Value, ...]:
        """What a sequence or a dict holds: one value for all parts, where they have no number."""
        return parts_of(self._run, value)

    def value_of(self, site: Site) -> Value:
        """What a name or attribute holds here; another expression is not evaluated again."""
        if not isinstance(site, (cst.Name, cst.Attribute)):
            return Unknown("not a name")
        outer, self._run.frame = self._run.frame, self._frame
        with self._run.silence():
            value = self._run.evaluate(site)
        self._run.frame = outer
        return value

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
        return self._run.hearer(AttributeAssignments).statements.get(target)

    def is_statement(self, expression: Site) -> bool:
        """Whether the expression is all that the current statement does."""
        return isinstance(self.statement, cst.Expr) and self.statement.value is expression

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

    def parent_of(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node in which an expression stands."""
        waiting: list[cst.CSTNode] = [self._run.module]
        while waiting:
            parent = waiting.pop()
            children = parent.children
            if any(child is node for child in children):
                return parent
            waiting.extend(children)
        return None

    def contains(self, outer: Site, inner: Site) -> bool:
        """Whether a place is another one, or stands in it as an argument."""
        if isinstance(outer, cst.WithItem):
            outer = outer.item
        return outer is inner or (
            isinstance(outer, cst.Call) and any(one.value is inner for one in outer.args)
        )

    def holds_items(self, place: cst.Subscript) -> bool:
        """Whether an item can be replaced: that of a list or a dict, not a part of a tensor."""
        with self._run.silence():
            owner = self._run.evaluate(place.value)
        return isinstance(owner, (ListOf, DictOf)) or (isinstance(owner, Batch) and owner.whole)

    @property
    def file_code(self) -> str:
        """The text of the whole file."""
        return self._run.module_code

    def class_code(self, name: str) -> str:
        """The text of a class of the file, and of its bases there."""
        found = [cls for cls in self._run.classes.values() if cls.name == name]
        for cls in found:
            found += [base for base in cls.bases if isinstance(base, Class)]
        return "\n".join(self.code(cls.node) for cls in found)

    def is_tried(self) -> bool:
        """Whether the code around is prepared for this to fail."""
        return bool(self._run.expected)

    def reads_again(self, name: cst.Name, statement: cst.CSTNode) -> bool:
        """Whether a local name is read after a statement, or elsewhere in the loop around."""
        word = re.compile(rf"(?<![.\w]){re.escape(name.value)}\b")
        binding = self._frame.bindings.get(name.value)
        own = self.code(statement)
        if isinstance(binding, cst.For):
            around = self._run.module.code_for_node(binding.body)
            return len(word.findall(around)) > len(word.findall(own))
        around = self._run.module.code_for_node(self._frame.node)
        return word.search(around.partition(own)[2]) is not None

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
            if isinstance(callee, External) and callee.name.partition(".")[0] not in _DEVICE_AWARE:
                return one.func
        return None

    def encloses(self, outer: Site, inner: Site) -> bool:
        """Whether a place stands anywhere in another one, or is that one."""
        if not isinstance(outer, cst.CSTNode):
            return outer is inner
        return any(node is inner for node in descendants(outer))

    def demands_on_purpose(self) -> bool:
        """Whether the script needs a GPU anyway: it sets one up, or talks to CUDA itself."""
        return intended_machines.demands_on_purpose(self._run.module_code)

    def works_on_purpose(self) -> bool:
        """Whether the script does more with CUDA than to ask for its state."""
        return intended_machines.works_on_purpose(self._run.module_code)

    def needs_accelerators(self) -> bool:
        """Whether the file does what only accelerators can do, besides asking for their state."""
        return intended_machines.needs_accelerators(self._run.module_code)

    def imports_for_cuda_only(self) -> bool:
        """Whether the file needs a library that there is for CUDA alone."""
        return intended_machines.imports_for_cuda_only(self._run.module_code)

    def provides_for_the_cpu(self) -> bool:
        """Whether the file chooses its device, or lets somebody choose."""
        return intended_machines.provides_for_the_cpu(self._run.module_code)

    def is_method_of_callers_module(self) -> bool:
        """Whether this is a Module's method that nothing in the program calls.

        Beside it, others of the file have to go where their inputs are.
        """
        frame = self._run.frame
        if not isinstance(frame.receiver, Module) or not self.walked_alone_as():
            return False
        return intended_machines.follows_others(self._run.module_code)

    def walked_alone_as(self) -> tuple[str, ...]:
        """The names of the functions around, where nobody in the program calls the outermost."""
        names: list[str] = []
        frame: Frame | None = self._run.frame
        while frame is not None:
            names.append(frame.name)
            if frame.caller is not None and frame.site is None:
                return tuple(names)
            frame = frame.caller
        return ()

    def bound_by(self, site: Site) -> Site | None:
        """The statement that gave a name its value, where `site` is a local name."""
        if not isinstance(site, cst.Name):
            return None
        return self._frame.bindings.get(site.value)

    def is_hidden(self, value: Value) -> bool:
        """Whether a module lies in a plain container, where `.to()` does not find it."""
        return isinstance(value, Module) and value.ref in self._run.notes(PlainlyKept).refs

    def parts_with(self, call: Site) -> cst.ListComp | cst.DictComp | None:
        """The list or dict that a comprehension makes, in which a call treats each part."""
        around = reads_of(self._run.module).around
        node = around.get(call) if isinstance(call, cst.Call) else None
        while isinstance(node, (cst.BaseExpression, cst.Arg, cst.BaseElement)):
            if isinstance(node, (cst.ListComp, cst.DictComp)):
                return node
            node = around.get(node)
        return None

    def training_loop(self, site: Site) -> Site | None:
        """The head of the innermost loop around, if that trains and gets there in each step."""
        assert isinstance(site, cst.CSTNode)
        loop = training_loop(self._run.module, site)
        return loop.iter if isinstance(loop, cst.For) else getattr(loop, "test", None)

    @property
    def statement(self) -> Site:
        """The statement that is being walked."""
        return self._run.frame.statement

    def _visible(self) -> list[tuple[str, Value]]:
        run = self._run
        names: dict[str, Value] = {}
        for ref in (self._frame.home, *reversed(self._frame.scopes), self._frame.ref):
            names.update(run.state.fields(ref))
        return list(names.items())


_DEVICE_AWARE = frozenset({"torch", "torchvision", "torchaudio", "builtins"})
"""Packages of which devicelint knows what they do with a tensor wherever it is."""
