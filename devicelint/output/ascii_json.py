"""JSON that any program can read, whatever the encoding of the terminal, and whatever was found."""

from __future__ import annotations

import json
import re
from typing import Any

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


def ascii_json(document: Any, indent: int | None = None, *, sort_keys: bool = False) -> str:
    """Return JSON in ASCII; halves of characters, which few programs read, become `?`."""
    text = json.dumps(document, ensure_ascii=False, indent=indent, sort_keys=sort_keys)
    whole = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    return _BEYOND_ASCII.sub(lambda character: json.dumps(character[0])[1:-1], whole)
