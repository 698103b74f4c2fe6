"""Tensors that stand for nothing: what is returned or kept where there is nothing to compute.

`return torch.zeros(0, 4)` for an image without boxes lies on the CPU, and what the other paths
give lies with the caller's tensors: whoever puts both together fails.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devicelint.domain.devices import CPU, DeviceOf
from devicelint.domain.events import MisplacedInput, MixedOperation, Operand, Transfer
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.state import State
from devicelint.domain.values import Tensor, Tuple, Value
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.tensor_parameters import is_no_tensor_on
from devicelint.interpreter.torch.operations.operands import operand_of
from devicelint.interpreter.torch.operations.reports import report_clash

RETURNED = "return"
"""The operation that the announced clashes are of."""


@analysis
class Placeholders(Analysis):
    """Holds what the paths of a function that is walked on its own return against each other."""

    serves = frozenset({MixedOperation, MisplacedInput})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._moved: dict[Site, Step] = {}
        """The transfers, and what put each tensor there before."""

    def on_transfer(self, transfer: Transfer) -> None:
        """Note what a tensor was that the code itself brings to where others are."""
        if isinstance(transfer.receiver, Tensor):
            self._moved[transfer.site] = transfer.receiver.since

    def on_returning(self, frame: Frame) -> None:
        """Report what was made for nothing on one path, where others give what a caller has."""
        if frame.site is not None or len(frame.returns) < 2:
            return
        if frame.separated_by is not None and "cuda" in frame.separated_by.key:
            return
        self._check_apart(frame.returns)

    def _check_apart(self, returned: Sequence[tuple[Value, State]]) -> None:
        tuples = [(value.items, path) for value, path in returned if isinstance(value, Tuple)]
        sizes = {len(items) for items, _ in tuples}
        if len(tuples) == len(returned) and len(sizes) == 1:
            for position in range(sizes.pop()):
                self._check_apart([(items[position], path) for items, path in tuples])
            return
        others = (_on_callers_device(value) for value, _ in returned)
        other = next((one for one in others if one is not None), None)
        for value, path in returned:
            created = _created_for_nothing(value)
            if created is None or other is None or self._is_moved_later(created, other):
                continue
            if is_no_tensor_on(path, other.device):
                continue
            report_clash(self.run, _node(created), RETURNED, (created, other))

    def _is_moved_later(self, created: Operand, other: Operand) -> bool:
        """Whether another path moves the very tensor that is created here."""
        since, seen = other.since, set[Site]()
        while since is not None and since != created.since and since.site not in seen:
            seen.add(since.site)
            since = self._moved.get(since.site)
        return since is not None and since == created.since


def _created_for_nothing(value: Value) -> Operand | None:
    """A tensor with dimensions that was created on the CPU, and nothing has become of."""
    if not isinstance(value, Tensor) or value.device != CPU or value.scalar is not False:
        return None
    is_made = value.since.verb in (Verb.CREATED, Verb.CONVERTED)
    return operand_of(value, value.since.site) if is_made else None


def _on_callers_device(value: Value) -> Operand | None:
    if not isinstance(value, Tensor) or not isinstance(value.device, DeviceOf):
        return None
    return operand_of(value, getattr(value.since.site, "name", value.since.site))


def _node(operand: Operand) -> cst.CSTNode:
    assert isinstance(operand.site, cst.CSTNode)
    return operand.site
