"""A flag that separates the paths of one part of a program is told apart in that part alone."""

from __future__ import annotations

from collections import Counter
from textwrap import dedent

import libcst as cst

from devicelint.domain.events import Event, MixedOperation
from devicelint.domain.worlds import World
from devicelint.interpreter import Program, explore
from devicelint.interpreter.engine.attempts import Retractable
from devicelint.interpreter.engine.run import Listener, Run
from tests.interpreter.entering import counting

SPLITS = """
    import torch

    def move(gpu):
        values = torch.zeros(3)
        if gpu:
            values = values.cuda()
        return values + torch.ones(3)

    def other(count):
        return torch.zeros(count)
"""


class Walked:
    """The walks through a program: what they entered, and where an operation mixes devices."""

    def __init__(self, code: str) -> None:
        self.entered: Counter[str] = Counter()
        self.mixed: list[World] = []
        text = dedent(code)
        walker = counting(self.entered, 1)
        walks = explore(Program(cst.parse_module(text), text), self._listener_for, walker)
        self.worlds = [walk.world for walk in walks if walk.world.accelerators == 1]

    def _listener_for(self, world: World) -> Listener:
        def listen(event: Event, run: Run) -> None:
            if isinstance(event, MixedOperation):
                self.mixed.append(run.world)

        return Retractable(listen, self.mixed)


def test_only_the_part_that_a_flag_splits_is_walked_for_each_of_its_values():
    walked = Walked(SPLITS)
    assert walked.worlds == [World(1)]
    assert walked.entered["move"] == 3  # Given up once, then with the flag and without it.
    assert walked.entered["other"] == 1
    assert [world.settings for world in walked.mixed] == [(("gpu", True),)]


def test_another_part_that_asks_for_the_flag_is_walked_for_its_values_wherever_it_stands():
    asks = """
    def {name}(gpu):
        values = torch.zeros(3, device="cuda" if gpu else "cpu")
        return values.sum()
"""
    code = SPLITS.replace("\n    def move", asks.format(name="before") + "\n    def move", 1)
    walked = Walked(code + asks.format(name="after"))
    assert walked.worlds == [World(1)]
    assert walked.entered["before"] == walked.entered["after"] == 3
    assert walked.entered["other"] == 1


def test_a_flag_that_the_program_itself_has_asked_for_splits_all_of_it():
    walked = Walked("""
        import torch, argparse

        args = argparse.ArgumentParser().parse_args()
        if args.gpu:
            print("on a GPU")

        def move():
            values = torch.zeros(3)
            if args.gpu:
                values = values.cuda()
            return values + torch.ones(3)

        def other(count):
            return torch.zeros(count)
    """)
    assert [world.settings for world in walked.worlds] == [
        (("args.gpu", True),),
        (("args.gpu", False),),
    ]
    assert walked.entered["other"] >= 2
