"""What GitHub knows a line by, from one run to the next; the numbers are those of its own tests."""

import pytest

from devicelint.output.identity import HashedLines
from devicelint.text.source import SourceFile

LOREM = "a7f2ff13bc495cf2"


@pytest.mark.parametrize(
    ("text", "hashes"),
    [
        ("", ["c129715d7a2bc9a3:1"]),
        (
            " a\nb\n  \t\tc\n d",
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"],
        ),
        (
            " hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n",
            [
                "e9496ae3ebfced30:1",
                "fb7c023a8b9ccb3f:1",
                "ce8ba1a563dcdaca:1",
                "e20e36e16fcb0cc8:1",
                "b3edc88f2938467e:1",
                "c8e28b0b4002a3a0:1",
                "c129715d7a2bc9a3:1",
            ],
        ),
        (
            "Lorem ipsum dolor sit amet.\n" * 10,
            [
                *(f"{LOREM}:{number}" for number in range(1, 7)),
                "a7f2ff1481e87703:1",
                "a9cf91f7bbf1862b:1",
                "55ec222b86bcae53:1",
                "cc97dc7b1d7d8f7b:1",
                "c129715d7a2bc9a3:1",
            ],
        ),
    ],
)
def test_lines_are_known_by_what_github_knows_them_by(text, hashes):
    file = SourceFile(text)
    lines = HashedLines(file)
    assert [lines.hash_of(line) for line in range(1, file.lines + 1)] == hashes


def test_a_line_is_known_by_halves_of_characters_and_by_its_byte_order_mark():
    def known(text: str) -> str:
        return HashedLines(SourceFile.from_bytes(text.encode(), "x.py")).hash_of(1)

    # 0xd83d and 0xde00, the end of the file, and nothing.
    units = [0xD83D, 0xDE00, 0xFFFF, *[0] * 97]
    told = 0
    for unit in units:
        told = (told * 37 + unit) % 2**64
    assert known("\U0001f600") == f"{told:x}:1"
    assert known("\ufeffx") != known("x")
