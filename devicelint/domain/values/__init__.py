"""What an expression can be: frozen values that print well.

Objects with identity (modules, lists, instances, frames) are values that carry a `ref`; what they
hold lies in the `State`, under that ref.  History never takes part in comparison, so that a loop's
fixed point is about devices alone.
"""

from __future__ import annotations

from devicelint.domain.values.containers import (
    DictOf,
    Fact,
    ListOf,
    Loader,
    OneOf,
    Path,
    Stream,
    Tuple,
)
from devicelint.domain.values.host import (
    ARRAY,
    FALSE,
    HOST,
    NONE,
    TRUE,
    Array,
    Const,
    FileSource,
    Flag,
    HostObject,
    HostValue,
    Imported,
    ImportedName,
    ProjectModule,
    Symbolic,
    Unknown,
)
from devicelint.domain.values.objects import (
    Bound,
    Class,
    Dataset,
    Function,
    Instance,
    Module,
    Mover,
    Namespace,
    Parameters,
    Partial,
    Ref,
    Super,
)
from devicelint.domain.values.tensors import (
    Batch,
    Checkpoint,
    DeviceHandle,
    DeviceIndex,
    Distribution,
    Generator,
    LibraryObject,
    NotMovable,
    Owned,
    Placed,
    Reference,
    Tensor,
    TensorDict,
)

__all__ = [
    "ARRAY",
    "FALSE",
    "HOST",
    "NONE",
    "TRUE",
    "Array",
    "Batch",
    "Bound",
    "Checkpoint",
    "Class",
    "Const",
    "Dataset",
    "DeviceHandle",
    "DeviceIndex",
    "DictOf",
    "Distribution",
    "Fact",
    "FileSource",
    "Flag",
    "Function",
    "Generator",
    "HostObject",
    "HostValue",
    "Imported",
    "ImportedName",
    "Instance",
    "LibraryObject",
    "ListOf",
    "Loader",
    "Located",
    "Module",
    "Mover",
    "Namespace",
    "NotMovable",
    "OneOf",
    "Owned",
    "Parameters",
    "Partial",
    "Path",
    "Placed",
    "ProjectModule",
    "Ref",
    "Reference",
    "Stream",
    "Super",
    "Symbolic",
    "Tensor",
    "TensorDict",
    "Tuple",
    "Unknown",
    "Value",
]

Value = (
    Unknown
    | Const
    | HostValue
    | Array
    | HostObject
    | Flag
    | Symbolic
    | ImportedName
    | ProjectModule
    | Imported
    | DeviceHandle
    | DeviceIndex
    | Tensor
    | Batch
    | Distribution
    | Placed
    | Module
    | Mover
    | Namespace
    | Instance
    | TensorDict
    | LibraryObject
    | OneOf
    | Super
    | ListOf
    | DictOf
    | Tuple
    | Stream
    | Dataset
    | Loader
    | NotMovable
    | Generator
    | Parameters
    | Checkpoint
    | Function
    | Class
    | Bound
    | Partial
    | Reference
)

Located = Tensor | Batch | Placed
"""Values that carry their own device."""
