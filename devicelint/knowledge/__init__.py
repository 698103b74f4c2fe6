"""What torch, and the libraries around it, do to devices: data, and the way to look it up."""

from devicelint.knowledge.hosts import (
    converts_elements_alone,
    converts_to_numpy,
    is_read_as_number,
    wraps_in_tensor,
)
from devicelint.knowledge.kinds import MODULE_KINDS, kind_of, listed_as, mark_of, member_mark
from devicelint.knowledge.library import function, tensor_attribute, tensor_method
from devicelint.knowledge.modules import ModuleKind, ModuleKnowledge, module_class
from devicelint.knowledge.own import OwnStubs
from devicelint.knowledge.signature import (
    CPU,
    DEVICE,
    Form,
    Parameter,
    Result,
    Role,
    Signature,
    Slot,
    TypeKind,
)
from devicelint.knowledge.stubs_index import StubError

__all__ = [
    "CPU",
    "DEVICE",
    "MODULE_KINDS",
    "Form",
    "ModuleKind",
    "ModuleKnowledge",
    "OwnStubs",
    "Parameter",
    "Result",
    "Role",
    "Signature",
    "Slot",
    "StubError",
    "TypeKind",
    "converts_elements_alone",
    "converts_to_numpy",
    "function",
    "is_read_as_number",
    "kind_of",
    "listed_as",
    "mark_of",
    "member_mark",
    "module_class",
    "tensor_attribute",
    "tensor_method",
    "wraps_in_tensor",
]
