"""Devices that are handed to something which is not seen, or told what it takes, and goes there."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import Const, Flag, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.hooks import EVERY_EVENT, Analysis, analysis
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import is_device_option
from devicelint.interpreter.facts.machines.asked import note_placed
from devicelint.interpreter.python.conditions import is_machine


def note_handed(run: Run, arguments: Arguments) -> None:
    """What is called is told where to go, by what the machine has: a name, a number, or the answer.

    Such a number or an answer stands for a device where it is given for one.
    """
    for keyword, given in arguments.keywords.items():
        value = given.value
        is_answer = (isinstance(value, Flag) and is_machine(value)) or (
            isinstance(value, Const) and value.chosen
        )
        if is_answer and is_device_option(keyword):
            note_placed(run)


@analysis
class HandedToUnseen(Analysis):
    """Notes what a call is told that nobody sees."""

    serves = EVERY_EVENT

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """Where a call goes that nobody sees is where it is told to go."""
        note_handed(self.run, arguments)
