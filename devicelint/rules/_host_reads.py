"""What the rules about reading tensors on the host share."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.events import HostRead
from devicelint.fixes import InsertAfter, Rewrite
from devicelint.interpreter.scene import Scene

NUMPY = ".numpy()"


def copy(event: HostRead) -> str:
    """What brings the tensor to the CPU; it is detached unless it is known to need no grad."""
    return ".cpu()" if event.requires_grad is False else ".detach().cpu()"


def insert_copy(scene: Scene, event: HostRead) -> Rewrite | None:
    """Copy to the CPU right before it is read."""
    site = event.operand.site
    assert isinstance(site, cst.CSTNode)
    if isinstance(site, (cst.List, cst.Tuple)):
        return None
    text = copy(event)
    if text.startswith(".detach()") and scene.code(site).endswith(".detach()"):
        text = ".cpu()"
    return Rewrite(f"Insert `{text}`", (InsertAfter(site, text),))
