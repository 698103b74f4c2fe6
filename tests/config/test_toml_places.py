"""Where keys and items of a TOML text stand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devicelint.config.toml_places import places, toml_reader

ROOT = Path(__file__).parents[2]


def ways(value: object, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every key and every item."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*way, key)
            yield from ways(each, (*way, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield (*way, number)
            yield from ways(each, (*way, number))


@pytest.mark.parametrize(
    ("text", "way", "at"),
    [
        ("a = 1\nb = 2", ("b",), "b = 2"),
        ("a.b . 'c d' = 1", ("a", "b", "c d"), "c d'"),
        ('"\\u0061" = 1', ("a",), "\\u0061"),
        ("[x]\n# b = 2\nb = 3", ("x", "b"), "b = 3"),
        ('[ x . "y" ] # [z]\nb = 3', ("x", "y", "b"), "b = 3"),
        ("a = ['p', # 'q'\n 'q' , ]", ("a", 1), "q' , ]"),
        ("a = [1, [2, {b = 3}]]", ("a", 1, 1, "b"), "b = 3"),
        ("a = [[]]\nb = 1", ("b",), "b = 1"),
        ("a = {}\nb = {c = '}', d = 1}", ("b", "d"), "d = 1"),
        ('a = """\nb = 1\n"""\nb = 2', ("b",), "b = 2"),
        ('a = """x""""\nb = 2', ("b",), "b = 2"),
        ('a = """\\""""\nb = 2', ("b",), "b = 2"),
        ("a = '''''x'''''\nb = 2", ("b",), "b = 2"),
        ("a = ''\nb = 2", ("b",), "b = 2"),
        ("a = [\"\"\"x\"\"\", '''y''']", ("a", 1), "y'''"),
        ("[[a]]\nx = 1\n[[a]]\nx = 2", ("a", 1, "x"), "x = 2"),
        ("[[a]]\n[a.b]\nx = 1\n[[a]]\n[a.b]\nx = 2", ("a", 1, "b", "x"), "x = 2"),
        ("a = 1979-05-27 07:32:00\nb = 2", ("b",), "b = 2"),
        ("'größe' = ['ß', 'ä']", ("größe", 1), "ä']"),
    ],
)
def test_a_key_or_item_is_where_it_is_written(text, way, at):
    assert way in set(ways(toml_reader()(text)))
    assert text[places(text)[way] :].startswith(at)


def test_every_key_of_a_real_file_is_found():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = places(text)
    assert set(ways(toml_reader()(text))) == found.keys()
    assert all(
        text.startswith(str(way[-1]), at) for way, at in found.items() if isinstance(way[-1], str)
    )


@given(st.text(st.sampled_from("[]{}=\"'.,\n #a1\\b"), max_size=30))
@example("a={b=[{},[]],c='']'}\n")
def test_whatever_can_be_read_has_its_places(text):
    try:
        read = toml_reader()(text)
    except ValueError:
        return
    assert set(ways(read)) <= places(text).keys()


@given(
    st.recursive(
        st.integers() | st.text("ab'\"\\,]}#=.\n", max_size=6),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("ab .'", min_size=1, max_size=3), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_nested_values_have_their_places(value):
    text = f"first = {written(value)}\nlast = 1"
    found = places(text)
    assert set(ways(toml_reader()(text))) == found.keys()
    assert text[found["last",] :] == "last = 1"


def written(value: object) -> str:
    if isinstance(value, dict):
        return (
            f"{{{', '.join(f'{written(key)} = {written(each)}' for key, each in value.items())}}}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return str(value).lower()
