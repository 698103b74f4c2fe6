"""Worlds that one finding names."""

from __future__ import annotations

from devicelint.domain.worlds import WITH_ONE, WITHOUT, World, whether_or_not

ON, OFF = WITH_ONE.choosing("a", True), WITH_ONE.choosing("a", False)


def test_a_setting_that_makes_no_difference_is_not_said() -> None:
    assert whether_or_not([ON, OFF]) == (WITH_ONE,)
    assert whether_or_not([ON, WITH_ONE, WITHOUT]) == (WITH_ONE, WITHOUT)
    each = [world.choosing("b", chosen) for world in (ON, OFF) for chosen in (True, False)]
    assert whether_or_not(each) == (WITH_ONE,)


def test_one_that_does_is_kept() -> None:
    other = World(2, (("a", False),))
    assert whether_or_not([ON, other]) == (ON, other)
    both = [ON.choosing("b", True), OFF.choosing("b", False)]
    assert whether_or_not(both) == tuple(both)
