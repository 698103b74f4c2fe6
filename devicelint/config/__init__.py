"""What a project asks of devicelint: `[tool.devicelint]`, or a devicelint.toml.

A new key is a field of `Config`, and nothing else: see `model.py`.
"""

from __future__ import annotations

from devicelint.config.document import ConfigError
from devicelint.config.finder import ConfigFinder, load_config, unread_beside
from devicelint.config.model import SETTINGS, Config, DeviceStyle
from devicelint.config.sureness import SURENESS, Sureness

__all__ = [
    "SETTINGS",
    "SURENESS",
    "Config",
    "ConfigError",
    "ConfigFinder",
    "DeviceStyle",
    "Sureness",
    "load_config",
    "unread_beside",
]
