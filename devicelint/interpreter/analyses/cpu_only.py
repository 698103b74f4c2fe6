"""Programs that train and say nothing of devices: what has to move for them to train on any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Event, Operand
from devicelint.domain.history import Site
from devicelint.domain.training_events import CpuOnly, FixedToCpu
from devicelint.domain.values import Class, Module, Ref, Symbolic, Tensor, Unknown
from devicelint.interpreter.analyses.fixed_to_cpu import fixed_to_cpu
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import CLASS_FIELD, module_device
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.bound_names import is_free
from devicelint.interpreter.facts.device_words import USUAL_NAMES, means_device
from devicelint.interpreter.facts.mentions import mentions_in, names_in
from devicelint.interpreter.torch.modules.registration import owns_tensors, submodules
from devicelint.knowledge import kind_of, module_class


@analysis
class CpuOnlyProgram(Analysis):
    """Notes what a program trains, which speaks of no device, or of the CPU as its only one."""

    serves = frozenset({CpuOnly, FixedToCpu})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.learners: dict[Ref, Module] = {}
        """The modules that the checked file builds, calls, or gives to an optimizer."""
        self._leaves: dict[Site, Tensor] = {}
        """The tensors that are trained, by the call that makes each."""
        self._unseen: dict[cst.Call, Frame] = {}
        """The calls that build what optimizers are given the parameters of, and nobody sees."""
        self._optimizes = False

    def on_leaf(self, tensor: Tensor) -> None:
        """Remember a tensor that is trained."""
        is_trained = tensor.device == CPU and tensor.role in ("leaf", "parameter")
        if is_trained and self.run.frame.is_checked:
            self._leaves.setdefault(tensor.since.site, tensor)

    def on_module_built(self, module: Module) -> None:
        """Remember a module that the checked file builds; it is a new one each time."""
        if self.run.frame.is_checked and not self.run.frame.is_reported:
            self.learners[module.ref] = module

    def on_module_called(self, own: Operand, arguments: Arguments) -> None:
        """Remember a module that the checked file calls."""
        if isinstance(own.value, Module):
            self._note_learner(own.value)

    def on_optimizer_built(self) -> None:
        """The program trains."""
        self._optimizes = self._optimizes or self.run.frame.is_checked

    def on_optimized(self, modules: Sequence[Module], given: Site) -> None:
        """Remember what an optimizer is given the parameters of."""
        for module in modules:
            self._note_learner(module)
        if not modules and isinstance(given, cst.CSTNode):
            for made in _built_unseen(self.run, given):
                self._unseen.setdefault(*made)

    def _note_learner(self, module: Module) -> None:
        if self.run.frame.is_checked:
            self.learners.setdefault(module.ref, module)

    def at_end(self) -> Iterator[Event]:
        """What a program trains, where nothing in it speaks of any device but the CPU."""
        if self.run.world.accelerators == 1:
            yield from self._parts_on_the_cpu()
            yield from fixed_to_cpu(self.run, self.learners.values())

    def _parts_on_the_cpu(self) -> Iterator[CpuOnly]:
        """Each part of what a program trains, where nothing in it speaks of devices."""
        run = self.run
        if not (self._optimizes or _computes_gradients(run)):
            return
        if not (self.learners or self._leaves or self._unseen) or speaks_of_devices(run.program):
            return
        parts = dict.fromkeys((*self._modules(), *self._unseen), True)
        parts |= dict.fromkeys(self._made_leaves(), False)
        made = (run.made_in[one][0] for one in parts if one in run.made_in)
        frames = [*self._unseen.values(), *made]
        free = (one for one in USUAL_NAMES if all(is_free(run, one, frame) for frame in frames))
        name = next(free, None)
        for site, is_module in parts.items():
            yield CpuOnly(site, is_module, tuple(parts.items()), name)

    def _modules(self) -> Iterator[Site]:
        """The calls that build the modules, each as a whole."""
        run, inside = self.run, set(self._parts_of_others())
        for module in self.learners.values():
            place = module_device(run, module)
            site = place.since.site
            if module.ref in inside or site not in run.made_in or not isinstance(site, cst.Call):
                continue
            is_own = _is_built_in_a_module(run.made_in[site][0])
            if not is_own and _has_tensors(run, module) and place.device == CPU:
                yield site

    def _parts_of_others(self) -> Iterator[Ref]:
        """What others are made of; what they are given later does not move when they are built."""
        made_in = self.run.made_in
        for module in self.learners.values():
            built = made_in.get(module.since.site, _LATER)[1]
            for one in submodules(self.run, module):
                made = made_in.get(one.since.site, _LATER)[1]
                if one.ref != module.ref and made <= built:
                    yield one.ref

    def _made_leaves(self) -> Iterator[Site]:
        """The calls that make the tensors which are trained."""
        for site in self._leaves:
            made = self.run.made_in.get(site)
            if made is not None and not _is_built_in_a_module(made[0]):
                yield site


def _built_unseen(run: Run, given: cst.CSTNode) -> Iterator[tuple[cst.Call, Frame]]:
    """The calls that build, unseen, what an optimizer is given the parameters of."""
    for node in descendants(given):
        func = node.func if isinstance(node, cst.Call) else None
        if not isinstance(func, cst.Attribute) or func.attr.value != "parameters":
            continue
        owner = func.value.value if isinstance(func.value, cst.Name) else ""
        made = _building(run, owner)
        if made is not None and isinstance(run.lookup(owner), (Unknown, Symbolic)):
            yield made


def _building(run: Run, name: str) -> tuple[cst.Call, Frame] | None:
    """The call whose result has a name here, and the frame in which it stands."""
    frame = next((one for one in run.frame.outwards() if name in one.bindings), None)
    statement = None if frame is None else frame.bindings[name]
    if frame is None or not isinstance(statement, cst.Assign) or not frame.is_checked:
        return None
    target, value = statement.targets[0].target, statement.value
    alone = len(statement.targets) == 1 and isinstance(target, cst.Name)
    return (value, frame) if alone and isinstance(value, cst.Call) else None


def _computes_gradients(run: Run) -> bool:
    methods = mentions_in(run.module).methods
    owners = methods.get("grad", ())
    return "backward" in methods or any(one.endswith("autograd") for one in owners)


_LATER = (None, float("inf"))


def _is_built_in_a_module(frame: Frame) -> bool:
    """Whether a Module builds it for itself, in one of its methods or in what that calls."""
    return any(isinstance(one.receiver, Module) for one in frame.outwards())


def _has_tensors(run: Run, module: Module) -> bool:
    """Whether there is anything to move; what is not seen is taken to have parameters."""
    return owns_tensors(run, module) or any(
        module_class(one.name) is None
        and not isinstance(run.state.read(one.ref, CLASS_FIELD), Class)
        and kind_of(one.name) != "transformation"
        for one in submodules(run, module)
    )


_OF_THE_CPU = ("share_memory", "quantize_", "quantization")
"""What names are made of that have to do with what works on the CPU alone."""
_FRAMEWORKS = frozenset(
    "accelerate avalanche catalyst composer deepspeed fastai flash horovod ignite keras lightning "
    "lightning_fabric poutyne pytorch_lightning ray sentence_transformers skorch stable_baselines3 "
    "tianshou torch_xla torchtnt trl".split()
)
"""What places models by itself."""
_TRAINERS = frozenset({"Trainer", "Seq2SeqTrainer", "pipeline"})


def speaks_of_devices(program: Program) -> bool:
    """Whether a program has anything to do with devices, or leaves them to a framework."""
    return any(_speaks(program, node) for node in descendants(program.tree))


def _speaks(program: Program, node: cst.CSTNode) -> bool:
    tree = program.tree
    match node:
        case cst.Name(value=name):
            return means_device(name) or any(word in name for word in _OF_THE_CPU)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="to")), args=args):
            return not args or not all(map(_is_dtype, args))
        case cst.Import(names=aliases):
            return any(_is_framework(alias.evaluated_name) for alias in aliases)
        case cst.ImportFrom(module=cst.CSTNode() as module, names=names) if not node.relative:
            given = [] if isinstance(names, cst.ImportStar) else names
            is_trainer = any(alias.evaluated_name in _TRAINERS for alias in given)
            name, library = tree.code_for_node(module), program.library
            is_own = library is not None and library.find(program.path, name, 0) is not None
            return not is_own and (is_trainer or _is_framework(name))
        case _:
            return False


def _is_framework(module: str) -> bool:
    return module.partition(".")[0] in _FRAMEWORKS


def _is_dtype(argument: cst.Arg) -> bool:
    """Whether an argument of `to()` says a type of numbers, or a layout, and no device."""
    names = names_in(argument)
    return any("dtype" in name or "memory_format" in name for name in names) or any(
        kind in names for kind in _DTYPES
    )


_DTYPES = frozenset(
    "float float16 float32 float64 bfloat16 cfloat half double cdouble int int8 int16 int32 int64 "
    "uint8 uint16 uint32 uint64 long short bool".split()
)
