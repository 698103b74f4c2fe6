"""Bytes to text and back, and offsets to lines and back."""

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devicelint.text.encoding import Encoding
from devicelint.text.source import Position, SourceError, SourceFile


def problem(data: bytes) -> str:
    with pytest.raises(SourceError) as caught:
        SourceFile.from_bytes(data, "train.py")
    return str(caught.value)


NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])
# Among them, what str.splitlines takes for line ends and Python's grammar does not.
LINES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n")
    | st.sampled_from("\x0c\x1c\x85\u2028\U0001d499é"),
    max_size=12,
).filter(lambda line: "coding" not in line)


@st.composite
def texts(draw, head=""):
    body = draw(st.lists(st.tuples(LINES, NEWLINES), max_size=6))
    last = draw(LINES)
    return head + "".join(line + end for line, end in body) + last


class TestRoundTrip:
    @given(texts(), st.booleans())
    @example("", False)
    @example("", True)
    @example("\r\r\n\n\x0c", True)
    def test_utf_8(self, text, mark):
        data = (codecs.BOM_UTF8 if mark else b"") + text.encode()
        source = SourceFile.from_bytes(data, "a.py")
        assert source.encoding == Encoding("utf-8", mark)
        # A mark inside of the text is a character like any other.
        assert source.text == (text if mark else text.removeprefix("\ufeff"))
        assert source.to_bytes() == data

    @given(
        st.sampled_from(
            [
                "latin-1",
                "cp1252",
                "gbk",
                "shift_jis",
                "euc-jp",
                "cp932",
                "koi8-r",
                "big5",
                "iso2022_jp",
                "ascii",
                "raw-unicode-escape",
            ]
        ),
        st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"")),
    )
    @example("cp932", b"\xfa\x4a\xed\x40")
    @example("raw-unicode-escape", b"\\u00e9")
    def test_declared(self, encoding, body):
        data = f"# coding: {encoding}\n".encode() + body
        try:
            source = SourceFile.from_bytes(data, "a.py")
        except SourceError:
            return
        assert source.to_bytes() == data
        assert source.with_text(source.text).to_bytes() == data

    @given(st.binary(max_size=60))
    def test_any_bytes_are_text_or_a_source_error(self, data):
        try:
            source = SourceFile.from_bytes(data, "a.py")
        except SourceError as error:
            message = str(error)
        else:
            assert source.to_bytes() == data
            return
        assert message.startswith("a.py:")
        assert "\n" not in message

    @given(texts())
    def test_text_of_elsewhere(self, text):
        assert SourceFile.from_text(text).to_bytes().decode() == text


class TestDeclarations:
    @pytest.mark.parametrize(
        "declaration",
        [
            "# coding: latin-1",
            "# -*- coding: latin-1 -*-",
            "# vim: set fileencoding=latin-1 :",
            " \t\f# encoding=ISO_8859-1",
            "#!/usr/bin/python\n# coding=iso-latin-1-unix",
            "\r# coding: l1",
            "\r\n# coding: latin-1",
        ],
    )
    def test_they_hold_on_the_first_two_lines(self, declaration):
        source = SourceFile.from_bytes(declaration.encode() + b"\n'\xe9'", "a.py")
        assert source.text == declaration + "\n'é'"

    @pytest.mark.parametrize(
        "text",
        ["x = 1\n# coding: latin-1\n", "\n\n# coding: latin-1\n", "x = 1  # coding: latin-1\n"],
    )
    def test_they_hold_nowhere_else(self, text):
        assert "is not UTF-8 (byte 0xe9)" in problem(text.encode() + b"\xe9")
        assert SourceFile.from_bytes(text.encode(), "a.py").encoding == Encoding()

    @pytest.mark.parametrize("name", ["utf8", "UTF-8", "utf_8", "utf-8-sig", "utf-8-unix", "U8"])
    @pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
    def test_utf_8_by_any_name(self, name, mark):
        data = mark + f"# coding: {name}\né".encode()
        source = SourceFile.from_bytes(data, "a.py")
        assert source.encoding == Encoding("utf-8", bool(mark))
        assert source.to_bytes() == data

    @pytest.mark.parametrize(
        ("encoding", "text"),
        [("cp1252", "€ “x”"), ("gbk", "中文"), ("shift_jis", "日本"), ("cp949", "한국")],
    )
    def test_text_in_other_encodings(self, encoding, text):
        data = f"# coding: {encoding}\nx = '{text}'\n".encode(encoding)
        source = SourceFile.from_bytes(data, "a.py")
        assert source.line_text(2) == f"x = '{text}'"
        changed = source.with_text(source.text.replace("x =", "y ="))
        assert changed.to_bytes() == data.replace(b"x =", b"y =")


class TestProblems:
    def test_not_utf_8(self):
        assert problem(b"a = 1\r\nb = '\xc3\xa9\xe9'\n") == (
            "train.py:2:7: is not UTF-8 (byte 0xe9), and declares no other encoding"
        )

    def test_not_as_declared(self):
        assert problem(b"# coding: ascii\nx\n  '\xc3\xa9'") == (
            "train.py:3:4: is not in its declared encoding ascii (byte 0xc3)"
        )

    def test_cut_short(self):
        assert "train.py:1:2: is not UTF-8 (byte 0xe2)" in problem(b"x\xe2\x82")

    def test_declared_utf_8_and_is_not(self):
        assert "train.py:2:1: is not in its declared encoding utf-8" in problem(
            b"# coding: utf-8\n\xff"
        )

    def test_unknown_encoding(self):
        assert problem(b"#!/bin/python\n# coding: utf-9\n") == (
            "train.py:2:11: unknown encoding: utf-9"
        )

    @pytest.mark.parametrize("name", ["rot13", "hex", "base64", "aliases", "mbcs-no", "....", "-"])
    def test_what_is_no_text_encoding(self, name):
        assert f"train.py:1:11: unknown encoding: {name}" in problem(f"# coding: {name}\n".encode())

    @pytest.mark.parametrize("name", ["utf-16", "utf-7", "cp037", "unicode_escape", "undefined"])
    def test_encodings_in_which_no_declaration_can_be_read(self, name):
        assert f"the encoding {name} cannot be declared" in problem(f"# coding: {name}\n".encode())

    def test_mark_against_declaration(self):
        assert problem(codecs.BOM_UTF8 + b"# coding: latin-1\n") == (
            "train.py:1:11: declares the encoding latin-1, but the file starts with the byte order"
            " mark of UTF-8"
        )

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
    def test_wide_encodings(self, encoding):
        expected = f"is encoded in {encoding.upper()}, which Python does not read"
        assert problem("x = 1".encode(encoding)) == f"train.py:1:1: {expected}"

    @pytest.mark.parametrize("data", [b"\x7fELF\0\x01", b"x = 1\n\0", b"\0"])
    def test_binary(self, data):
        assert problem(data) == "train.py:1:1: is a binary file"

    def test_one_line_whatever_the_path(self):
        assert "\n" not in str(SourceError("a\nb\u2028.py", 1, 0, "x\r\ny"))

    def test_it_can_be_sent_to_another_process(self):
        import pickle

        error = pickle.loads(pickle.dumps(SourceError("a.py", 3, 4, "is odd")))
        assert isinstance(error, SourceError)
        assert str(error) == "a.py:3:5: is odd"


class TestWithText:
    def test_keeps_encoding_and_mark(self):
        marked = SourceFile.from_bytes(codecs.BOM_UTF8 + b"x", "a.py")
        assert marked.with_text("é").to_bytes() == codecs.BOM_UTF8 + "é".encode()
        assert marked.with_text("é").path == "a.py"

    def test_what_the_encoding_cannot_express(self):
        source = SourceFile.from_bytes(b"# coding: latin-1\nx", "a.py")
        with pytest.raises(SourceError) as caught:
            source.with_text("# coding: latin-1\nx = '€'")
        assert str(caught.value) == "a.py:2:6: the encoding iso8859-1 cannot express '\\u20ac'"

    def test_lone_surrogates(self):
        source = SourceFile.from_text("\ud800", "a.py")
        with pytest.raises(SourceError, match="cannot express"):
            source.to_bytes()

    def test_what_could_not_be_given_back(self):
        source = SourceFile.from_bytes(b"# coding: raw-unicode-escape\n'\\u00e9'", "a.py")
        with pytest.raises(SourceError, match="several ways to write the same text"):
            source.with_text(source.text + "\n")


class TestLines:
    def test_only_pythons_line_ends_count(self):
        text = "a\nb\r\nc\rd\x0ce\x1cf\u2028g\x85h\x0bi"
        source = SourceFile.from_text(text)
        assert [source.line_text(line) for line in range(1, 5)] == ["a", "b", "c", text[7:]]
        with pytest.raises(ValueError, match="has no line 5"):
            source.line_text(5)

    def test_positions_count_characters(self):
        source = SourceFile.from_text("x = '\U0001d499é'\ny = 2\n")
        assert source.position(source.text.index("é")) == Position(1, 6)
        assert source.position(source.text.index("y")) == Position(2, 0)
        assert source.position(len(source.text)) == Position(3, 0)

    def test_empty(self):
        source = SourceFile.from_text("")
        assert source.position(0) == Position(1, 0)
        assert source.offset(1, 0) == 0
        assert source.line_text(1) == ""

    @given(texts())
    def test_position_and_offset_are_inverse(self, text):
        source = SourceFile.from_text(text)
        for offset in range(len(text) + 1):
            line, column = source.position(offset)
            assert source.offset(line, column) == offset
            assert source.line_text(line).startswith(text[offset - column : offset].rstrip("\r\n"))

    @pytest.mark.parametrize("offset", [-1, 4])
    def test_offsets_outside(self, offset):
        with pytest.raises(ValueError, match="outside"):
            SourceFile.from_text("abc").position(offset)

    @pytest.mark.parametrize(("line", "column"), [(0, 0), (3, 0), (1, 4), (1, -1), (2, 3)])
    def test_positions_outside(self, line, column):
        with pytest.raises(ValueError, match="has no"):
            SourceFile.from_text("abc\nde").offset(line, column)

    @pytest.mark.parametrize(
        ("text", "newline"), [("a\r\nb\n", "\r\n"), ("a\rb", "\r"), ("a\nb\r\n", "\n"), ("a", "\n")]
    )
    def test_newline(self, text, newline):
        assert SourceFile.from_text(text).newline == newline

    def test_repr_tells_the_file_and_not_its_text(self):
        source = SourceFile.from_text("secret\n", "a.py")
        expected = "SourceFile('a.py', 2 lines, Encoding(name='utf-8', mark=False))"
        assert repr(source) == expected
