"""Settings that a program reads: from files of its user's, from the environment, from a prompt."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import FileSource, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.unseen import result_of_unseen

_READING = (
    *("json.load", "json.loads", "toml.load", "toml.loads", "tomllib.load", "tomllib.loads"),
    *(f"yaml.{name}" for name in "load safe_load full_load unsafe_load".split()),
    *(f"omegaconf.OmegaConf.{name}" for name in "load from_cli create merge".split()),
    *("yacs.config.CfgNode", "yacs.config.load_cfg", "ml_collections.ConfigDict"),
    *("hydra.compose", "configparser.ConfigParser", "os.getenv", "os.environ.get"),
)
"""What gives settings that somebody has chosen, whatever stands for them in the code."""


@function(*_READING)
def read_settings(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A file that settings name is one of whoever has written these."""
    given = [one.value for one in arguments]
    settings = result_of_unseen(run, f"the settings of {name}()", given, site)
    return replace(settings, source=FileSource.CHOSEN)
