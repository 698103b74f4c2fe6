from __future__ import annotations

import libcst as cst

from devicelint.domain.events import DiscardedTransfer
from devicelint.domain.values import Batch, Tensor
from devicelint.finding import Severity
from devicelint.fixes import InsertBefore, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class DiscardedMove(Rule):
    """The result of moving a tensor is thrown away."""

    code = "DEV104"
    name = "discarded-move"
    severity = Severity.ERROR
    summary = "The result of .to(), .cuda() or .cpu() on a tensor is thrown away"

    def on_discarded_transfer(self, event: DiscardedTransfer, scene: Scene) -> Reports:
        """A tensor is copied, not moved; modules and containers that move in place are not meant."""
        transfer = event.transfer
        receiver = transfer.receiver
        is_tensor = isinstance(receiver, Tensor) or (
            isinstance(receiver, Batch) and not receiver.whole
        )
        if not is_tensor or transfer.target is None or transfer.result == receiver:
            return
        name = clashes.quoted(scene, transfer.receiver_site)
        assert isinstance(transfer.site, cst.CSTNode)
        yield Report(
            transfer.site,
            f".{transfer.method}() returns a copy of the tensor {name} on {transfer.target}, which "
            f"nobody keeps: {name} stays where it is",
            fix=_assign(scene, event),
        )


def _assign(scene: Scene, event: DiscardedTransfer) -> Rewrite | None:
    receiver = event.transfer.receiver_site
    if not isinstance(receiver, (cst.Name, cst.Attribute, cst.Subscript)):
        return None
    code = scene.code(receiver)
    assert isinstance(event.statement, cst.CSTNode)
    return Rewrite(f"Assign it to `{code}`", (InsertBefore(event.statement, f"{code} = "),))
