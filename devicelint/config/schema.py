"""The settings as a JSON schema, by which editors complete and check them."""

from __future__ import annotations

import re

from devicelint.config.kinds import Known, Schema
from devicelint.config.model import SETTINGS

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def schema(known: Known) -> Schema:
    """The schema of a `devicelint.toml`; `known` are the rules that there are: code to name."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "devicelint",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            key: {
                "description": _LINK.sub(r"\1", setting.documentation),
                **setting.kind.schema(known),
            }
            for key, setting in SETTINGS.items()
        },
    }
