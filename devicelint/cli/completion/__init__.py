"""The command `completion`: what a shell must know to complete devicelint's words.

The scripts are made from the parsers, so that an option that is added is completed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from devicelint.cli.options.parser import completion_parser
from devicelint.cli.options.vocabulary import commands
from devicelint.rule_index import all_facts


def run(_command: str, words: Sequence[str]) -> int:
    """Print the script of the shell that is named."""
    sys.stdout.write(script(completion_parser().parse(words).shell))
    return 0


def script(shell: str) -> str:
    """Return the completion script of bash, fish or zsh."""
    module = import_module(f"{__name__}.{shell}")
    selectors = tuple(word for rule in all_facts() for word in (rule.code, rule.name))
    text: str = module.script(commands(), selectors)
    return text
