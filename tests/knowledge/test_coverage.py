"""How much of torch the knowledge covers, and that what is written by hand is what calls show.

`tools/derived_knowledge.json` holds what calls on the virtual GPU show of each function that could
be called; `tools/derive_knowledge.toml` says what could not, and where a stub knows better.
"""

import ast
import inspect
from dataclasses import replace

import pytest

from devicelint import knowledge
from devicelint.knowledge import Role, grammar
from devicelint.knowledge.library import SAME_MODULE
from devicelint.knowledge.signature import TypeKind
from tools import derive_knowledge

torch = pytest.importorskip("torch")
pytest.importorskip("runtime_guard")

calls = pytest.importorskip("tools.derive_knowledge_calls")

TABLE = derive_knowledge.read()
TOLD = calls.by_hand()

pytestmark = pytest.mark.skipif(
    derive_knowledge.kept_release() != derive_knowledge.installed_release(),
    reason="the table is derived from another release of torch",
)


def told(table, key="functions"):
    return [name for entry in TOLD[table] for name in entry.get(key, ())]


def known(name):
    """What the knowledge says of a function, or of an attribute as torch.overrides spells it."""
    if name.endswith(".__get__"):
        return knowledge.tensor_attribute(name.split(".")[2])
    return knowledge.function(name)


def operators():
    """The operators of torch's database, and the name by which a script calls each."""
    database = pytest.importorskip("torch.testing._internal.common_methods_invocations")
    return {op.name: calls.qualified(op.name) for op in database.op_db}


def overridable():
    """Every function that torch.overrides lists."""
    listed = {*torch.overrides.get_testing_overrides()}
    listed.update(*torch.overrides.get_overridable_functions().values())
    return {torch.overrides.resolve_name(function) for function in listed} - {None}


def test_every_operator_of_the_database_has_a_signature():
    found = operators()
    attributes = {name for name in found if knowledge.tensor_attribute(name) is not None}
    stated = {name for name, qualified in found.items() if qualified and known(qualified)}
    assert len(found) > 600
    assert set(found) - stated - attributes == set(told("unsaid", "operators"))


def test_every_function_that_can_be_overridden_has_a_signature():
    found = overridable()
    assert len(found) > 1300
    assert {name for name in found if known(name) is None} == set(told("unsaid"))


def is_derived(name):
    """Whether calls show it: of the function, or of the one that it is another way to call."""
    module, _, short = name.rpartition(".")
    module = SAME_MODULE.get(module, module)
    plain = short.removesuffix("_") if not short.endswith("__") else short
    places = [module, "torch", "torch.nn.functional"] if module == "torch.Tensor" else [module]
    if any(f"{place}.{form}" in TABLE for place in places for form in (short, plain)):
        return True
    return any(known(name) is known(shown) for shown in TABLE)


def test_what_is_not_derived_has_a_reason():
    stated = {name for name in overridable() if known(name) is not None}
    functions = {name for name in stated if not name.endswith(".__get__")}
    by_hand = {name for name in functions if not is_derived(name)}
    assert by_hand == set(told("by_hand"))
    assert all(
        entry["reason"] for table in ("by_hand", "unsaid", "differs") for entry in TOLD[table]
    )


def slots(signature):
    """What is asked of each argument that has to do with another's device."""
    roles = (Role.OPERAND, Role.INDEX, Role.FREE)
    return [p for p in signature.parameters if p.slot is not None and p.slot.role in roles]


def derived(name, text):
    node = ast.parse(f"def {name.rpartition('.')[2]}{text}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    return grammar.signature(node)


def stated_slot(stub, parameter, place):
    """What the stub asks of the parameter: by its name, else by its place."""
    if parameter.kind is TypeKind.STAR:
        return stub.star_slot and replace(stub.star_slot, sequence=True)
    by_name = {one.name: one.slot for one in stub.parameters}
    if parameter.name in by_name or place >= len(stub.parameters):
        return by_name.get(parameter.name)
    return stub.parameters[place].slot


def agrees(stub, shown):
    """Whether the stub asks the same of each tensor; a tensor that is alone agrees with itself."""
    asked = slots(shown)
    if len(asked) < 2 and not any(parameter.slot.sequence for parameter in asked):
        return True
    for parameter in asked:
        slot = stated_slot(stub, parameter, shown.parameters.index(parameter))
        sequence = parameter.kind is TypeKind.STAR or parameter.slot.sequence
        if slot is None or replace(slot, sequence=sequence, may_be_number=False) != replace(
            parameter.slot, sequence=sequence
        ):
            return False
    return True


def test_a_stub_asks_of_each_tensor_what_calls_show():
    differing = {
        name
        for name, text in TABLE.items()
        if (stub := knowledge.function(name)) and not agrees(stub, derived(name, text))
    }
    assert len(TABLE) > 900
    assert differing == set(told("differs"))


def test_the_stubs_are_those_that_the_table_gives():
    assert derive_knowledge.run(check=True) == 0


SHARE = 40
"""One function in so many is derived anew; `python -m tools.derive_knowledge --check` asks all."""


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor", "ignore:The PyTorch API of nested")
def test_the_table_is_what_torch_gives():
    chosen = sorted(TABLE)[::SHARE]
    assert derive_knowledge.derived(chosen) == {name: TABLE[name] for name in chosen}


BASES = {"Container", "Module", "RNNBase", "RNNCellBase"}
"""Classes that a script makes no module of."""


def test_every_module_of_torch_has_its_forward():
    classes = {name: made for name, made in vars(torch.nn).items() if inspect.isclass(made)}
    modules = {name for name, made in classes.items() if issubclass(made, torch.nn.Module)}
    assert len(modules) > 150
    assert {n for n in modules if not knowledge.module_class(f"torch.nn.{n}")} == BASES


PUBLIC = {
    "torch.amp": {"custom_bwd", "custom_fwd", "is_autocast_available"},
    "torch.distributions": {"kl_divergence", "register_kl"},
    "torch.fft": set(),
    "torch.linalg": set(),
    "torch.masked": {"MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"},
    "torch.nn.init": set(),
    "torch.optim": set(),
    "torch.optim.lr_scheduler": set(),
    "torch.signal.windows": set(),
    "torch.special": set(),
}
"""The public names of a module that the knowledge leaves out."""

NO_FUNCTIONS = {"LinAlgError", "Tensor", "common_args", "swap_in_optimizer_params_and_state"}
"""What such a module holds besides what it is for."""


@pytest.mark.parametrize("module", PUBLIC)
def test_the_public_names_of_a_module_are_known(module):
    owner = calls.function(module)
    listed = getattr(owner, "__all__", [n for n in vars(owner) if not n.startswith("_")])
    names = {n for n in listed if callable(getattr(owner, n))} - NO_FUNCTIONS
    assert {n for n in names if not is_known(f"{module}.{n}")} == PUBLIC[module]


def is_known(name):
    return knowledge.function(name) or knowledge.module_class(name) or knowledge.kind_of(name)
