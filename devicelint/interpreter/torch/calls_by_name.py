"""Calls of imported names: torch's functions and classes, loaders, host libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    Unsure,
)
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    ARRAY,
    HOST,
    Batch,
    Const,
    HostObject,
    ImportedName,
    ListOf,
    NotMovable,
    Partial,
    Placed,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import calls, function, library_class
from devicelint.interpreter.python.containers.contents import element_of
from devicelint.interpreter.python.paths.endings import ARGUMENT_PARSER
from devicelint.interpreter.torch.data.datasets import build_dataset
from devicelint.interpreter.torch.host_reads import AXES, FIGURE, read_arguments
from devicelint.interpreter.torch.marked_calls import call_marked
from devicelint.interpreter.torch.modules.construction import build_module
from devicelint.interpreter.torch.modules.registration import built
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.interpreter.torch.random import draw_indices
from devicelint.interpreter.torch.transfers import own_device
from devicelint.knowledge import (
    converts_elements_alone,
    converts_to_numpy,
    kind_of,
    module_class,
    wraps_in_tensor,
)
from devicelint.knowledge import (
    function as signature_of,
)


@calls(ImportedName)
def call_external(run: Run, callee: ImportedName, arguments: Arguments, site: cst.Call) -> Value:
    result = call_by_name(run, callee.name, arguments, site)
    if not isinstance(result, Unknown):
        return result
    return run.guesses.called(run, callee, arguments, site) or result


def call_by_name(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What calling something imported gives."""
    handler = function.get(name)
    if handler is not None:
        return handler(run, name, arguments, site)
    if name.startswith("torch."):
        return _call_torch(run, name, arguments, site)
    answered = call_marked(run, name, arguments, site)
    if answered is not None:
        return answered
    if converts_to_numpy(name):
        read_arguments(run, name, arguments, site, lists_only=converts_elements_alone(name))
        return _as_the_tensor(name, arguments, site) or _made_by_library(name)
    signature = signature_of(name)
    if signature is not None:
        return apply_signature(run, signature, arguments, site, name=name)
    kind = kind_of(name)
    if kind is not None:
        return _make(run, name, kind, arguments, site)
    root = name.partition(".")[0]
    if root in _ARRAY_LIBRARIES:
        return _made_by_library(name)
    if root in _STANDARD_LIBRARY:
        return HOST
    return Unknown(f"{name} is not known")


def _as_the_tensor(name: str, arguments: Arguments, site: cst.Call) -> Value | None:
    """`np.clip(x, 0, 1)` of a tensor is a tensor, made from the array that was read."""
    given = [one.value for one in arguments.positional]
    tensors = [one for one in given if isinstance(one, (Tensor, Batch, Placed))]
    if not tensors or not wraps_in_tensor(name):
        return None
    return Tensor(CPU, Step(Verb.CONVERTED, site, CPU), _scalar_of(given), False)


def _scalar_of(given: Sequence[Value]) -> bool | None:
    """Whether what is computed element by element is 0-dim: where all that went in is."""
    each = [
        value.scalar if isinstance(value, Tensor) else isinstance(value, Const) or None
        for value in given
        if not isinstance(value, Batch)
    ]
    if len(each) < len(given) or False in each:
        return False
    return None if None in each else True


def _made_by_library(name: str) -> Value:
    """An estimator for a class of scikit-learn, else an array or what is as good as one."""
    root, _, last = name.rpartition(".")
    if root.startswith("sklearn") and last[:1].isupper():
        return HostObject(name)
    return HOST if root.startswith("matplotlib") else ARRAY


_ARRAY_LIBRARIES = frozenset("numpy sklearn pandas scipy cv2 PIL skimage imageio librosa".split())
"""Libraries whose functions give arrays, frames and objects that live on the host."""
_STANDARD_LIBRARY = frozenset(
    "math random time os json csv re glob pathlib datetime string struct hashlib shutil".split()
)


def _call_torch(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    signature = signature_of(name)
    if signature is not None:
        return apply_signature(run, signature, arguments, site, name=name)
    knowledge = module_class(name)
    if knowledge is not None:
        return build_module(run, name, knowledge, arguments, site)
    kind = kind_of(name)
    if kind is not None:
        return _make(run, name, kind, arguments, site)
    return Unknown(f"{name} is not known")


def _make(run: Run, name: str, kind: str, arguments: Arguments, site: cst.Call) -> Value:
    draw_indices(run, name, arguments, site)
    make = library_class.get(kind)
    return Unknown(f"a {kind}") if make is None else make(run, name, arguments, site)


@library_class("scheduler")
def make_scheduler(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return NotMovable("learning-rate scheduler", site)


@function("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def make_parameter(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "data")
    since = Step(Verb.CREATED, site, CPU)
    if given is None:
        return Tensor(CPU, since, None, True, "parameter")
    device = own_device(given.value)
    asked = arguments.get(1, "requires_grad")
    grad = asked is None or asked.value != Const(False)
    if isinstance(given.value, Tensor):
        step = given.value.since
        return Tensor(device, step, given.value.scalar, grad, "parameter")
    return Tensor(device, since, None, grad, "parameter")


@function("torch.nn.Buffer", "torch.nn.parameter.Buffer")
def make_buffer(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A tensor that is a buffer of whatever Module it is assigned to."""
    given = arguments.get(0, "data")
    if given is None or not isinstance(given.value, Tensor):
        return Unknown("a buffer of an unknown kind")
    return replace(given.value, role="buffer")


@function("torch.nn.Embedding.from_pretrained", "torch.nn.EmbeddingBag.from_pretrained")
def embedding_of(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`nn.Embedding.from_pretrained(table)`: a module whose weight is where the table is."""
    table = arguments.get(0, "embeddings")
    place = Unsure("the table is not known") if table is None else own_device(table.value)
    return built(run, site, name.rpartition(".")[0], place)


@function("torch.autograd.Variable", "torch.autograd.variable.Variable")
def variable(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The tensor itself; one that is to have a gradient is a leaf."""
    given = arguments.get(0, "data")
    if given is None:
        return Unknown("an empty Variable")
    asked = arguments.get(1, "requires_grad")
    if isinstance(given.value, Tensor) and asked is not None and asked.value == Const(True):
        leaf = replace(given.value, grad=True, role=given.value.role or "leaf")
        run.steps.leaf(leaf)
        return leaf
    return given.value


@function("torch.compile", "torch.jit.script", "torch.nn.utils.weight_norm")
def same(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "model") or arguments.get(0, "module")
    return Unknown(f"{name} without arguments") if given is None else given.value


@function("sklearn.model_selection.train_test_split")
def train_test_split(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Two parts of each argument, of its own kind."""
    if arguments.open:
        return Unknown("a split of an unknown number of arrays")
    kept = (Tensor, ListOf)
    given = [a.value if isinstance(a.value, kept) else ARRAY for a in arguments.positional]
    return Tuple(tuple(part for value in given for part in (value, value)))


@function("torchvision.utils.make_grid")
def make_grid(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """One image of all images, where they are."""
    given = arguments.get(0, "tensor")
    images = None if given is None else given.value
    if isinstance(images, ListOf):
        images = element_of(run, images, site)
    if isinstance(images, (Tensor, Batch)):
        return Tensor(images.device, images.since, False, False)
    return Unknown("a grid of something unknown")


@function("matplotlib.pyplot.subplots")
def subplots(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return Tuple((FIGURE, AXES))


@function("matplotlib.pyplot.gca", "matplotlib.pyplot.axes", "matplotlib.pyplot.subplot")
def axes(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return AXES


@function("matplotlib.pyplot.figure", "matplotlib.pyplot.gcf")
def figure(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return FIGURE


@function("functools.partial")
def partial(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if not arguments.positional or arguments.open:
        return Unknown("partial of something unknown")
    first, *rest = (argument.value for argument in arguments.positional)
    keywords = tuple((key, argument.value) for key, argument in arguments.keywords.items())
    _, *sites = (argument.site for argument in arguments)
    return Partial(first, tuple(rest), keywords, tuple(sites))


@function("argparse.ArgumentParser")
def argument_parser(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return ARGUMENT_PARSER


@function("torch.utils.data.random_split", "torch.utils.data.dataset.random_split")
def random_split(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Parts of a dataset, each like the whole."""
    draw_indices(run, name, arguments, site)
    return Stream(build_dataset(run, "torch.utils.data.Subset", arguments, site), filled=True)


@function("torch.Tensor")
def make_tensor(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The class called as a function: on the CPU, unless the default type is one of CUDA's."""
    made = call_by_name(run, "torch.FloatTensor", arguments, site)
    if not isinstance(made, Tensor) or run.device_of_type == CPU:
        return made
    since = replace(made.since, device=run.device_of_type)
    return Tensor(run.device_of_type, since, made.scalar, made.grad)


@function("torch.set_grad_enabled")
def set_grad_enabled(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return Unknown("a gradient mode")
