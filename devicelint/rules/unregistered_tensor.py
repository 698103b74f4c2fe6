"""A Module keeps a tensor as a plain attribute."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import DeviceOf
from devicelint.domain.events import Clash, MisplacedInput, MixedOperation, Operand
from devicelint.domain.history import Keeper, Site
from devicelint.domain.values import Tensor
from devicelint.finding import FAILS_HERE, Certainty, Safety, Severity
from devicelint.fixes import Replace, Rewrite
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule, line_of


class UnregisteredTensor(Rule):
    """A plain tensor attribute of a Module does not follow `.to()`."""

    code = "DEV106"
    name = "unregistered-tensor"
    severity = Severity.ERROR
    summary = "`.to()` does not move a tensor that is a plain attribute of a module"
    unfixed = "it is not a single assignment in `__init__`"

    def on_mixed_operation(self, event: MixedOperation, context: RuleContext) -> Reports:
        """The attribute is an operand."""
        yield from self._reports(event.clash, context)

    def on_misplaced_input(self, event: MisplacedInput, context: RuleContext) -> Reports:
        """The attribute is given to a submodule."""
        yield from self._reports(event.clash, context)

    def _reports(self, clash: Clash, context: RuleContext) -> Reports:
        since = clash.culprit.since
        kept = since.kept if since is not None else None
        if kept is None or (not _is_followed(clash) and _is_seen_to(context, clash, kept)):
            return
        value = clash.culprit.value
        is_leaf = isinstance(value, Tensor) and value.role == "leaf"
        advice = "make it a Parameter" if is_leaf else "register it as a buffer"
        yield Report(
            kept.site,
            f"self.{kept.attribute} of {kept.owner} stays {_where(clash.culprit)} because "
            f".to() does not move plain tensors, but is combined with "
            f"{clashes.quoted(context, clash.reference.site)} on {clashes.place(clash.reference)} "
            f"(line {line_of(0)}){_unless(clash)}: {advice}",
            ((clash.failing, FAILS_HERE), *clashes.history(clash.reference)),
            clashes.severity(clash),
            clashes.certainty(clash),
            None if is_leaf else _register(context, clash, kept),
        )


def _where(kept: Operand) -> str:
    """Where a tensor stays; what the Module was given may be anywhere, and on the CPU first."""
    return "where it was created" if _is_given(kept) else f"on {clashes.place(kept)}"


def _unless(clash: Clash) -> str:
    return (
        " (unless that is the same device)"
        if _is_given(clash.culprit)
        else clashes.condition(clash)
    )


def _is_given(kept: Operand) -> bool:
    """Whether who makes the Module gives it the tensor."""
    return isinstance(kept.device, DeviceOf)


def _is_followed(clash: Clash) -> bool:
    """Whether the program itself has built and moved the Module: all of its moves were walked."""
    return clashes.certainty(clash) is Certainty.CERTAIN


def _is_seen_to(context: RuleContext, clash: Clash, kept: Keeper) -> bool:
    """Whether the file moves the attribute by itself, or gives it another value later."""
    return _is_moved(context, kept) or _is_given_later(context, clash, kept)


def _is_moved(context: RuleContext, kept: Keeper) -> bool:
    """Whether the class moves the attribute, or others in the file do."""
    own = context.source.methods_called_on(kept.attribute, kept.owner)
    if any(method in _MOVES for method, _ in own):
        return True
    others = context.source.methods_called_on(kept.attribute)
    return any(method in _MOVES and owner != "self" for method, owner in others)


_MOVES = frozenset({"to", "cuda", "type_as", "type"})


def _is_given_later(context: RuleContext, clash: Clash, kept: Keeper) -> bool:
    """Whether a method gives it another value: not the one that gave this, nor the one that fails.

    Somebody may call that method after the move, and before what fails here.
    """
    sites = (kept.site, clash.failing)
    methods = context.source.methods_that_set(kept.owner, kept.attribute)
    return any(not _holds_one_of(method, sites) for method in methods)


def _holds_one_of(method: cst.FunctionDef, sites: tuple[Site, ...]) -> bool:
    if method.name.value == "__init__":
        return True
    return any(node is site for node in descendants(method.body) for site in sites)


def _register(context: RuleContext, clash: Clash, kept: Keeper) -> Rewrite | None:
    """`register_buffer` changes what `named_buffers()` gives, and what `.half()` converts."""
    assignment = context.source.assignment_to(kept.site)
    if isinstance(assignment, cst.Assign) and len(assignment.targets) != 1:
        return None
    if not isinstance(assignment, (cst.Assign, cst.AnnAssign)) or assignment.value is None:
        return None
    target = assignment.targets[0].target if isinstance(assignment, cst.Assign) else kept.site
    if target is not kept.site:
        return None
    value = context.code(assignment.value)
    call = f'self.register_buffer("{kept.attribute}", {value}, persistent=False)'
    message = (
        "Register it as a buffer that is not part of the state_dict: checkpoints keep their keys"
    )
    if _is_reached_alone(context, clash, kept):
        return Rewrite(message, (Replace(assignment, call),), uncovers=True)
    message += "; .half() and .buffers() then include it"
    return Rewrite(message, (Replace(assignment, call),), Safety.UNSAFE, uncovers=True)


def _is_reached_alone(context: RuleContext, clash: Clash, kept: Keeper) -> bool:
    """Whether the whole program is seen, and only moves of the Module reach its buffers in it."""
    if not _is_followed(clash) or not context.source.is_program_without(_REACHES_BUFFERS):
        return False
    methods = list(context.source.methods_that_set(kept.owner, kept.attribute))
    return len(methods) == 1


_REACHES_BUFFERS = frozenset(
    "half double bfloat16 float16 float64 HalfTensor DoubleTensor BFloat16Tensor buffers "
    "named_buffers get_buffer".split()
)
