"""What rules of plug-ins are written with; `docs/plugins.md` shows how.

What is not named here may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping

from devicelint.domain.api_events import (
    AcceleratorApiCalled,
    AmpForOneDevice,
    DeviceContextDiscarded,
    DeviceIgnored,
    DeviceNotForwarded,
    LegacyTypeUsed,
    PartMadeElsewhere,
    QuestionNotAsked,
)
from devicelint.domain.data_events import (
    AcceleratorInWorker,
    GeneratorElsewhere,
    HostMemoryDemanded,
    LoaderPins,
    UnknownInput,
)
from devicelint.domain.devices import (
    CPU,
    Agreement,
    Device,
    DeviceOf,
    Known,
    Opaque,
    Unsure,
    agreement,
)
from devicelint.domain.events import (
    AcceleratorDemanded,
    Assigned,
    Clash,
    DeviceCompared,
    DevicelessMoved,
    DiscardedTransfer,
    Event,
    HostRead,
    IndexTested,
    InvalidDeviceNamed,
    Load,
    MisplacedInput,
    MixedOperation,
    ModuleDefined,
    Operand,
    ParameterLost,
    Revealed,
    Transfer,
)
from devicelint.domain.guard_events import GuardedMoves
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.parallel_events import (
    CollectiveCalled,
    GroupJoined,
    ParallelCalled,
    ParallelWrapped,
)
from devicelint.domain.training_events import (
    CpuOnly,
    DeviceUnused,
    FixedToCpu,
    HostWaits,
    MadeApart,
    OptimizerStateElsewhere,
)
from devicelint.domain.values import Module, Tensor, Value
from devicelint.finding import Certainty, Safety, Severity
from devicelint.fixes import (
    AddKeyword,
    Change,
    InsertAfter,
    InsertBefore,
    InsertStatement,
    RemoveArgument,
    RemoveStatement,
    Replace,
    Rewrite,
    WrapInCall,
)
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import Report, Reports, Rule, line_of

Scene = RuleContext
"""What `RuleContext` was called in earlier releases: it can be imported for one release more."""

__all__ = [
    "CPU",
    "EVENTS",
    "AcceleratorApiCalled",
    "AcceleratorDemanded",
    "AcceleratorInWorker",
    "AddKeyword",
    "Agreement",
    "AmpForOneDevice",
    "Assigned",
    "Certainty",
    "Change",
    "Clash",
    "CollectiveCalled",
    "CpuOnly",
    "Device",
    "DeviceCompared",
    "DeviceContextDiscarded",
    "DeviceIgnored",
    "DeviceNotForwarded",
    "DeviceOf",
    "DeviceUnused",
    "DevicelessMoved",
    "DiscardedTransfer",
    "Event",
    "FixedToCpu",
    "GeneratorElsewhere",
    "GroupJoined",
    "GuardedMoves",
    "HostMemoryDemanded",
    "HostRead",
    "HostWaits",
    "IndexTested",
    "InsertAfter",
    "InsertBefore",
    "InsertStatement",
    "InvalidDeviceNamed",
    "Known",
    "LegacyTypeUsed",
    "Load",
    "LoaderPins",
    "MadeApart",
    "MisplacedInput",
    "MixedOperation",
    "Module",
    "ModuleDefined",
    "Opaque",
    "Operand",
    "OptimizerStateElsewhere",
    "ParallelCalled",
    "ParallelWrapped",
    "ParameterLost",
    "PartMadeElsewhere",
    "QuestionNotAsked",
    "RemoveArgument",
    "RemoveStatement",
    "Replace",
    "Report",
    "Reports",
    "Revealed",
    "Rewrite",
    "Rule",
    "RuleContext",
    "Safety",
    "Scene",
    "Severity",
    "Site",
    "Step",
    "Tensor",
    "Transfer",
    "UnknownInput",
    "Unsure",
    "Value",
    "Verb",
    "WrapInCall",
    "agreement",
    "line_of",
]

EVENTS: Mapping[str, type[Event]] = {
    name: each
    for name, each in globals().items()
    if isinstance(each, type) and issubclass(each, Event) and each is not Event
}
"""Every event that a rule can listen to, by its name."""
