"""Whether a text has anything to do with tensors: the files that do not are never parsed."""

from __future__ import annotations

import re

LIBRARIES = (
    "accelerate diffusers dgl einops facenet_pytorch ignite lightning lightning_fabric pyiqa "
    "pytorch_lightning skorch timm transformers ultralytics"
).split()
"""What gives tensors and modules to files that never name torch; torchaudio and its like do."""

_WORDS = rf"\btorch|reveal_device|\b(?:{'|'.join(LIBRARIES)})\b"
_IN_TEXT = re.compile(_WORDS)
_IN_BYTES = re.compile(_WORDS.encode())


def names_tensors(text: str | bytes) -> bool:
    """Whether torch is named, or a library whose objects are tensors and modules."""
    if isinstance(text, str):
        return _IN_TEXT.search(text) is not None
    return _IN_BYTES.search(text) is not None
