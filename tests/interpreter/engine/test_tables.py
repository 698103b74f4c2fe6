"""Handlers are found by being there, and a key has one of them."""

from collections.abc import Callable

import pytest

from devicelint import interpreter
from devicelint.interpreter.engine import tables
from devicelint.interpreter.engine.tables import Table

ALL = [value for value in vars(tables).values() if isinstance(value, Table)]


def first() -> str:
    return "first"


def second() -> str:
    return "second"


def test_a_handler_is_registered_for_each_of_its_keys() -> None:
    table: Table[str, Callable[[], str]] = Table("answers")
    assert table("a", "b")(first) is first
    assert dict(table) == {"a": first, "b": first}


def test_a_second_handler_is_refused_and_both_are_named() -> None:
    table: Table[str, Callable[[], str]] = Table("answers")
    table("a")(first)
    with pytest.raises(TypeError) as refused:
        table("b", "a")(second)
    assert str(refused.value) == (
        f"two handlers for answers('a'): {__name__}.first and {__name__}.second"
    )
    assert table["a"] is first


def test_a_class_is_named_without_its_module() -> None:
    table: Table[type, Callable[[], str]] = Table("answers")
    table(int)(first)
    with pytest.raises(TypeError, match=r"answers\(int\)"):
        table(int)(second)


def test_the_same_handler_twice_is_refused_as_well() -> None:
    table: Table[str, Callable[[], str]] = Table("answers")
    with pytest.raises(TypeError, match="two handlers"):
        table("a", "a")(first)


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
def test_every_table_is_named_as_it_is_imported_and_is_filled(
    table: Table[object, Callable[[], str]],
) -> None:
    assert vars(tables)[table.name] is table
    assert interpreter.explore is not None
    assert table
