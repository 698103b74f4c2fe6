"""What the tests of this folder let pass, for the time being; each list becomes empty."""

from __future__ import annotations

IN_CIRCLES: frozenset[str] = frozenset(
    {
        "devicelint.interpreter.analyses.cpu_only",
        "devicelint.interpreter.analyses.device_forwarding",
        "devicelint.interpreter.analyses.ignored_device",
        "devicelint.interpreter.analyses.placeholder_rows",
        "devicelint.interpreter.analyses.placeholders",
        "devicelint.interpreter.engine.program",
        "devicelint.interpreter.engine.run",
        "devicelint.interpreter.facts.caller_contracts",
        "devicelint.interpreter.facts.cpu_choices",
        "devicelint.interpreter.facts.moved_back",
        "devicelint.interpreter.facts.saved_files",
        "devicelint.interpreter.facts.tensor_parameters",
        "devicelint.interpreter.facts.unmoved_models",
        "devicelint.interpreter.guesses.assumed_values",
        "devicelint.interpreter.guesses.assumptions",
        "devicelint.interpreter.guesses.loader_devices",
        "devicelint.interpreter.guesses.qualified_names",
        "devicelint.interpreter.torch.bundles",
        "devicelint.interpreter.libraries.graph_fields",
        "devicelint.interpreter.python.assignment",
        "devicelint.interpreter.python.attributes",
        "devicelint.interpreter.python.branches",
        "devicelint.interpreter.python.calls",
        "devicelint.interpreter.python.conditions",
        "devicelint.interpreter.python.containers",
        "devicelint.interpreter.python.dynamic",
        "devicelint.interpreter.python.functions",
        "devicelint.interpreter.python.parameters",
        "devicelint.interpreter.suggestions.device_names",
        "devicelint.interpreter.torch.checkpoints",
        "devicelint.interpreter.torch.device_arguments",
        "devicelint.interpreter.torch.device_indices",
        "devicelint.interpreter.torch.host_demands",
        "devicelint.interpreter.torch.host_syncs",
        "devicelint.interpreter.torch.indexing",
        "devicelint.interpreter.torch.legacy_names",
        "devicelint.interpreter.torch.modules.construction",
        "devicelint.interpreter.torch.modules.copies",
        "devicelint.interpreter.torch.modules.escapes",
        "devicelint.interpreter.torch.modules.registration",
        "devicelint.interpreter.torch.modules.submodules",
        "devicelint.interpreter.torch.operands",
        "devicelint.interpreter.torch.optimizers",
        "devicelint.interpreter.torch.parallel",
        "devicelint.interpreter.torch.random",
        "devicelint.interpreter.torch.ranks",
        "devicelint.interpreter.torch.signatures",
        "devicelint.interpreter.torch.transfers",
    }
)
LOCAL_IMPORTS: frozenset[tuple[str, str]] = frozenset(
    {
        ("devicelint.interpreter.python.attributes", "devicelint.interpreter.python.functions"),
        (
            "devicelint.interpreter.python.attributes",
            "devicelint.interpreter.torch.modules.submodules",
        ),
        (
            "devicelint.interpreter.python.containers",
            "devicelint.interpreter.facts.tensor_parameters",
        ),
        ("devicelint.interpreter.python.containers", "devicelint.interpreter.python.attributes"),
        ("devicelint.interpreter.python.containers", "devicelint.interpreter.python.functions"),
        ("devicelint.interpreter.python.containers", "devicelint.interpreter.torch.modules.copies"),
        (
            "devicelint.interpreter.torch.modules.escapes",
            "devicelint.interpreter.python.attributes",
        ),
        (
            "devicelint.interpreter.torch.modules.escapes",
            "devicelint.interpreter.torch.modules.registration",
        ),
        ("devicelint.interpreter.torch.transfers", "devicelint.interpreter.python.attributes"),
        ("devicelint.interpreter.torch.transfers", "devicelint.interpreter.python.calls"),
        (
            "devicelint.interpreter.torch.transfers",
            "devicelint.interpreter.torch.modules.registration",
        ),
    }
)
MORE_AT_THE_TOP = 0
FULL_FOLDERS: frozenset[str] = frozenset(
    {
        "devicelint/interpreter/torch",
        "devicelint/knowledge/stubs",
        "devicelint/output",
    }
)
LONG_FILES: frozenset[str] = frozenset(
    {
        "devicelint/cli/commands/check.py",
        "devicelint/domain/values.py",
        "devicelint/fixes/rounds.py",
        "devicelint/interpreter/engine/run.py",
        "devicelint/interpreter/python/attributes.py",
        "devicelint/interpreter/python/calls.py",
        "devicelint/interpreter/python/functions.py",
        "devicelint/interpreter/suggestions/context.py",
        "devicelint/interpreter/torch/signatures.py",
    }
)
CLASSES_WITH_TWO_HOMES: frozenset[str] = frozenset(
    {
        "Analysis",
        "Bundle",
        "DeviceNotForwarded",
        "DeviceUnused",
        "Document",
        "Flag",
        "Group",
        "Kind",
        "Known",
        "Layout",
        "MadeApart",
        "Move",
        "Node",
        "Notes",
        "OneOf",
        "Option",
        "Place",
        "Places",
        "Plugin",
        "Report",
        "Result",
        "Run",
        "Scene",
        "Settings",
        "UnknownInput",
        "Word",
        "Written",
    }
)
REGEXES_OUTSIDE_OF_FACTS: frozenset[str] = frozenset(
    {
        "devicelint/interpreter/analyses/cpu_only.py",
        "devicelint/interpreter/analyses/device_forwarding.py",
        "devicelint/interpreter/analyses/fixed_to_cpu.py",
        "devicelint/interpreter/analyses/guards/conditions.py",
        "devicelint/interpreter/analyses/guards/devices.py",
        "devicelint/interpreter/analyses/guards/groups.py",
        "devicelint/interpreter/analyses/unused_device.py",
        "devicelint/interpreter/engine/nodes.py",
        "devicelint/interpreter/guesses/loader_devices.py",
        "devicelint/interpreter/libraries/bundles.py",
        "devicelint/interpreter/libraries/metrics.py",
        "devicelint/interpreter/python/branches.py",
        "devicelint/interpreter/python/classes.py",
        "devicelint/interpreter/python/comparisons.py",
        "devicelint/interpreter/python/computed_members.py",
        "devicelint/interpreter/python/conditions.py",
        "devicelint/interpreter/suggestions/context.py",
        "devicelint/interpreter/suggestions/device_names.py",
        "devicelint/interpreter/torch/checkpoints.py",
        "devicelint/interpreter/torch/collectives.py",
        "devicelint/interpreter/torch/device_arguments.py",
        "devicelint/interpreter/torch/device_indices.py",
        "devicelint/interpreter/torch/host_reads.py",
        "devicelint/interpreter/torch/indexing.py",
        "devicelint/interpreter/torch/modules/copies.py",
        "devicelint/interpreter/torch/operands.py",
        "devicelint/interpreter/torch/tensor_methods.py",
    }
)
MORE_REGEXES = 73
