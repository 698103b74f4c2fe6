"""Every stub describes something that the installed torch has, under the names that torch uses."""

import contextlib
import importlib
import inspect

import pytest

from devicelint import knowledge
from devicelint.knowledge import catalogue
from devicelint.knowledge.signature import Role, TypeKind
from devicelint.knowledge.stubs_index import FOLDER, SOURCES, index

torch = pytest.importorskip("torch")

MODULES = [name for name in SOURCES if name.startswith("torch.") or name == "torch"]
ENTRIES = [(module, name) for module in MODULES for name in index(module)]


def owner(module):
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        parent, _, name = module.rpartition(".")
        return getattr(importlib.import_module(parent), name)


def read(module, name):
    """Whatever the entry states: each entry is of one kind or another."""
    if module == "torch.Tensor":
        return knowledge.tensor_method(name) or knowledge.tensor_attribute(name)
    qualified = f"{module}.{name}"
    return knowledge.function(qualified) or knowledge.module_class(qualified)


def test_every_stub_file_is_listed():
    listed = {file for files in SOURCES.values() for file in files} | {"kinds", "hosts"}
    there = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.pyi")}
    assert listed == {name for name in there if not name.startswith("frameworks/")}


def test_every_entry_keeps_to_the_grammar():
    unread = [f"{m}.{n}" for m in SOURCES for n in index(m) if read(m, n) is None]
    assert unread == []


def test_every_entry_exists_in_torch():
    missing = [f"{m}.{n}" for m, n in ENTRIES if not hasattr(owner(m), n) and n not in ELSEWHERE]
    assert missing == []


ELSEWHERE = {"DistributedDataParallel"}
"""torch.nn.parallel has it; torch.nn has not."""


def names_in_torch(module, name):
    """The parameter names that torch takes, from Python's signature and from its operators'."""
    found = set()
    thing = getattr(owner(module), name)
    with contextlib.suppress(TypeError, ValueError):
        found |= set(inspect.signature(thing).parameters)
    prefix = {"torch.linalg": "linalg_", "torch.fft": "fft_", "torch.special": "special_"}
    for operator in (prefix.get(module, "") + name, f"{name}_"):
        packet = None if "__" in operator else getattr(torch.ops.aten, operator, None)
        for overload in packet.overloads() if packet is not None else ():
            found |= {a.name for a in getattr(packet, overload)._schema.arguments}
    overridable = torch.overrides.get_testing_overrides()
    try:
        stand_in = overridable.get(thing)
    except TypeError:
        stand_in = None
    if stand_in is not None:
        found |= set(inspect.signature(stand_in).parameters)
    return found


RECEIVERS = {"input", "self"}
"""A function calls input what a method calls self."""


def is_checked(parameter):
    """Whether the parameter takes a tensor that a caller may name."""
    slot = parameter.slot
    if slot is None or parameter.kind is TypeKind.STAR or parameter.name in RECEIVERS:
        return False
    beside = (Role.DEVICE, Role.GENERATOR, Role.SIZE, Role.VARIES, Role.ADDS, Role.GIVES)
    return slot.role not in beside


def test_tensor_parameters_have_the_names_that_torch_gives_them():
    wrong = []
    for module, name in ENTRIES:
        stated = knowledge.function(f"{module}.{name}")
        if stated is None or name.startswith("__") or not callable(getattr(owner(module), name)):
            continue
        known = names_in_torch(module, name)
        if not known or "kwargs" in known or module == "torch.sparse":
            continue
        checked = [p.name for p in stated.parameters if is_checked(p)]
        wrong += [f"{module}.{name}({p}): {sorted(known)}" for p in checked if p not in known]
    assert "\n".join(wrong) == ""


def module_classes():
    classes = vars(torch.nn).items()
    return {n for n, c in classes if inspect.isclass(c) and issubclass(c, torch.nn.Module)}


def test_every_module_class_is_described():
    base_classes = {"Module", "Container", "RNNBase", "RNNCellBase"}
    described = set(index("torch.nn"))
    assert module_classes() - base_classes - described == set()


def public_functions(namespace):
    overridable = torch.overrides.get_overridable_functions()
    return {f.__name__ for f in overridable[namespace] if not f.__name__.startswith("_")}


def test_every_function_of_torch_nn_functional_is_described():
    internal = {n for n in public_functions(torch.nn.functional) if n.endswith("_with_indices")}
    internal |= {"feature_alpha_dropout_", "log_sigmoid"}
    assert (
        public_functions(torch.nn.functional) - internal - set(index("torch.nn.functional"))
        == set()
    )


NOT_FOR_SCRIPTS = (
    "miopen_ quantized_ fbgemm_ q_ native_ batch_norm_ sym_ fake_quantize quantize_ fused_ "
    "choose_qparams rnn_ lstm gru unsafe_split_with hash_tensor norm_except int_repr "
    "affine_grid_generator grid_sampler convolution embedding_bag index_put_ saddmm sspaddmm "
    "dsmm hsmm hspmm is_distributed slice_inverse resolve_ max_pool1d_with adaptive_max_pool1d "
    "histogramdd lobpcg"
).split()


def test_every_common_function_of_torch_is_described():
    from_other_modules = set(index("torch.nn.functional"))
    unknown = {
        name
        for name in public_functions(torch)
        if knowledge.function(f"torch.{name}") is None
        and name not in from_other_modules
        and not name.endswith("_copy")
        and not name.startswith(tuple(NOT_FOR_SCRIPTS))
    }
    assert unknown == {"autocast"}


def test_every_factory_takes_its_device():
    factories = {
        f.__name__ for f in importlib.import_module("torch.utils._device")._device_constructors()
    }
    rare = {"nested_tensor", "empty_quantized"}
    for name in factories - rare:
        qualified = f"torch.{name.replace('fft_', 'fft.')}"
        stated = knowledge.function(qualified)
        if stated is None:
            assert name.startswith("sparse_"), qualified
            continue
        roles = {p.slot.role for p in stated.parameters if p.slot is not None}
        assert Role.DEVICE in roles, qualified


def exists(qualified):
    module, _, name = qualified.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), name)
    except ImportError:
        return None


def test_every_kind_exists():
    optional = {"torch.utils.tensorboard.SummaryWriter"}
    names = {n for n in catalogue.read("kinds") if n.startswith("torch.")} - optional
    missing = {n for n in names if not n.endswith(catalogue.DEFAULT) and not exists(n)}
    assert missing == set()


def test_every_optimizer_and_scheduler_has_a_kind():
    optim = torch.optim
    for base, module, kind in (
        (optim.Optimizer, optim, "optimizer"),
        (optim.lr_scheduler.LRScheduler, optim.lr_scheduler, "scheduler"),
    ):
        for name, thing in vars(module).items():
            if inspect.isclass(thing) and issubclass(thing, base) and thing.__module__ != "typing":
                qualified = f"{module.__name__}.{name}"
                assert knowledge.kind_of(qualified) == kind, qualified


def test_every_host_name_exists():
    for name in catalogue.read("hosts"):
        if name.startswith(("numpy.", "sklearn.", "scipy.")) and not name.endswith("anything"):
            assert exists(name) is not False, name
