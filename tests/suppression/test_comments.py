"""Comments that suppress findings: which ones are meant, what they name, where they reach."""

import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devicelint.finding import Span
from devicelint.text.comments import layout
from devicelint.text.selectors import specificity, unknown_selector
from devicelint.text.source import SourceFile

RULES = {"DEV101": "module-input-elsewhere", "DEV102": "mixed-devices", "DEV201": "numpy-on-device"}


def suppressed(text: str, part: str = "here") -> set[str]:
    """The codes that are suppressed for the span of `part`."""
    source = SourceFile.from_text(text)
    start = text.index(part)
    span = Span(start, start + len(part))
    return {code for code, name in RULES.items() if source.suppresses(span, code, name)}


EVERYTHING = set(RULES)


class TestWhatACommentSuppresses:
    @pytest.mark.parametrize(
        ("comment", "codes"),
        [
            ("# noqa", EVERYTHING),
            ("#noqa", EVERYTHING),
            ("# NoQA", EVERYTHING),
            ("# noqa because the loader moves it", EVERYTHING),
            ("# noqa: DEV101", {"DEV101"}),
            ("# noqa:DEV101,E501", {"DEV101"}),
            ("# noqa: E501 DEV102, DEV201", {"DEV102", "DEV201"}),
            ("# NOQA: dev101", {"DEV101"}),
            ("# noqa: DEV1", {"DEV101", "DEV102"}),
            ("# noqa: DEV", EVERYTHING),
            ("# noqa: DEV101 moved by DEV102", {"DEV101"}),
            ("# noqa: E501", set()),
            ("# noqa: E501, W291", set()),
            ("# noqa: DEV1011", set()),
            ("# noqable", set()),
            ("# flake8: noqa", set()),
            ("# see noqa", set()),
            ("# type: ignore  # noqa: DEV101", {"DEV101"}),
            ("# devicelint: ignore", EVERYTHING),
            ("# devicelint: ignore the loader moves it", EVERYTHING),
            ("# devicelint:ignore[DEV101]", {"DEV101"}),
            ("# Devicelint: Ignore[dev101] the loader moves it", {"DEV101"}),
            ("# devicelint: ignore[DEV101, DEV201] [sic]", {"DEV101", "DEV201"}),
            ("# devicelint: ignore[mixed-devices]", {"DEV102"}),
            ("# devicelint: ignore[DEV1]", {"DEV101", "DEV102"}),
            ("# devicelint: ignore[]", set()),
            ("# devicelint: ignore[DEV101 it moves", set()),
            ("# devicelint: ignored", set()),
            ("# devicelint: ignore-nothing", set()),
            ("# noqa: E501  # devicelint: ignore[DEV101]", {"DEV101"}),
            ("# plain", set()),
        ],
    )
    def test_on_its_line(self, comment, codes):
        assert suppressed(f"before\nhere  {comment}\nafter\n") == codes

    def test_only_on_its_line(self):
        text = "before\nhere  # noqa\nafter\n"
        assert suppressed(text, "before") == suppressed(text, "after") == set()

    def test_what_is_named_is_told_with_its_place(self):
        text = "x  # devicelint: ignore[DEV101, mixed-device ]\ny  # noqa: E501\nz # noqa\n"
        named = list(SourceFile.from_text(text).suppression_codes())
        assert [word for word, _ in named] == ["DEV101", "mixed-device"]
        assert [text[span.start : span.end] for _, span in named] == ["DEV101", "mixed-device"]

    def test_a_bracket_that_is_not_closed_is_told(self):
        source = SourceFile.from_text("x  # devicelint: ignore[DEV101 it moves\n")
        assert [word for word, _ in source.suppression_codes()] == ["DEV101 it moves"]

    def test_files_without_one_are_not_scanned(self, monkeypatch):
        monkeypatch.setattr("devicelint.text.source.layout", lambda text: pytest.fail("scanned"))
        assert suppressed("here  # nothing\n") == set()
        assert not SourceFile.from_text("x = 1\n").skipped


class TestWhereACommentReaches:
    def test_first_and_last_line_of_the_span(self):
        for text in ("here(  # noqa\n1,\n)\n", "here(\n1,\n)  # noqa\n"):
            assert suppressed(text, "here(" + text[5 : text.index(")") + 1]) == EVERYTHING

    def test_not_a_line_in_between(self):
        text = "here(\n1,  # noqa\n2)\n"
        assert suppressed(text, text.strip()) == set()

    def test_the_end_of_a_statement_in_brackets(self):
        text = "x = f(\n  here,\n  other,\n)  # noqa: DEV101\ny\n"
        assert suppressed(text) == {"DEV101"}
        assert suppressed(text, "y") == set()

    def test_the_end_of_a_statement_with_backslashes(self):
        assert suppressed("x = here + \\\n  1  # noqa: DEV101\n") == {"DEV101"}

    def test_the_end_of_a_statement_with_a_long_string(self):
        assert suppressed('x = here("""\n# text\n""")  # noqa: DEV101\n') == {"DEV101"}

    def test_the_end_of_the_head_of_a_block(self):
        text = "with a(\n  here\n):  # noqa: DEV101\n  there = 1\n"
        assert suppressed(text) == {"DEV101"}
        assert suppressed(text, "there") == set()

    def test_an_empty_span(self):
        source = SourceFile.from_text("x  # noqa\n")
        assert source.suppresses(Span(0, 0), "DEV101", "mixed")
        assert not source.suppresses(Span(10, 10), "DEV101", "mixed")

    @pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
    def test_line_ends_of_any_kind(self, newline):
        text = newline.join(["first", "here(", "1)  # noqa", "last"])
        assert suppressed(text) == EVERYTHING
        assert suppressed(text, "first") == suppressed(text, "last") == set()

    def test_a_form_feed_ends_no_line(self):
        assert suppressed("here\x0c  # noqa\n") == EVERYTHING


class TestOnlyCommentsCount:
    @pytest.mark.parametrize(
        "text",
        [
            "here = '# noqa'\n",
            'here = "# noqa"\n',
            "here = 'it''s \\' # noqa'\n",
            "here = '''\n' # noqa '''\n",
            'here = """\n"" # noqa\n"""\n',
            'here = r"\\" # noqa"\n',
            "here = 'a\\\n# noqa'\n",
            'here = f"# noqa"\n',
            'here = f"{x!r:#^9} # noqa"\n',
            'here = f"{x:# noqa}"\n',
            'here = f"{{# noqa}}"\n',
            "here = f'{a[\"#\"]} # noqa'\n",
            'here = f"{a["#"]} # noqa"\n',
            'here = f"{f"{1}"} # noqa"\n',
            'here = f"{x:{w}} # noqa"\n',
            'here = f"{x:{w}.{p}} # noqa"\n',
            'here = rf"\\{x} # noqa"\n',
            'here = f"\\N{NUMBER SIGN} # noqa"\n',
            'here = f"{ {1: 2}[1] } # noqa"\n',
            'here = f"{(lambda: 1)()} # noqa"\n',
            'here = f"\\" # noqa"\n',
            'here = f"""{x}" # noqa"""\n',
            'here = f"""{\nx} # noqa"""\n',
            'here = t"{x} # noqa"\n',
            'here = Rb"# noqa"\n',
        ],
    )
    def test_not_strings(self, text):
        assert suppressed(text) == set()

    @pytest.mark.parametrize(
        "text",
        [
            "here = '#'  # noqa\n",
            "here = '' # noqa\n",
            'here = """"""  # noqa\n',
            "here = 'a' if'#'else'b'  # noqa\n",
            'here = f"{x}"  # noqa\n',
            'here = f"{x:#x}"  # noqa\n',
            'here = f"{x:{w}}"  # noqa\n',
            'here = f"{x:{{1: 2}[1]}}"  # noqa\n',
            "here = f'{a[\"#\"]}'  # noqa\n",
            'here = f"{a["#"]}"  # noqa\n',
            "here = f\"{x!r}\" f'{y}'  # noqa\n",
            "here = f'''{x:'>9}'''  # noqa\n",
            'here = f"{{"  # noqa\n',
            'here = f"{x}}}"  # noqa\n',
            'here = f"\\""  # noqa\n',
            'here = f"{x[1:2]}"  # noqa\n',
            'here = f"{x=}"  # noqa\n',
            'here = rf"\\{x}"  # noqa\n',
            'here = f"{x:%Y-%m-%d}"  # noqa\n',
            "here = r'\\''  # noqa\n",
            "here = {1: [2, (3)]}  # noqa\n",
        ],
    )
    def test_strings_end_where_they_end(self, text):
        assert suppressed(text) == EVERYTHING

    @given(st.text(st.sampled_from("#'\"\\\n\r{}()[]:fr x"), max_size=40))
    def test_whatever_the_text_the_scan_ends_and_comments_are_comments(self, text):
        found = layout(text)
        for comment in found.comments:
            assert text[comment.start] == "#"
            assert not set("\r\n") & set(text[comment.start : comment.end])
        ends = [(line.start, line.end) for line in found.joined]
        assert ends == sorted(ends)

    @given(
        st.lists(
            st.sampled_from(
                ["# c\n", "x = 1\n", "'#'", '"a\\"#"', "'''#\n'#'''", "f'{x:#x}'", "rb'\\''", "(\n",
                 ")", "+", "[", "]", "\\\n", "\n", "y  # d\n", 'f"{x}#{{"', "f'''{\nx}'''"]
            ),
            max_size=12,
        ).map("".join)
    )  # fmt: skip
    def test_it_agrees_with_pythons_tokenizer(self, text):
        try:
            compile(text, "<text>", "exec")
        except SyntaxError:
            return
        lines = [0]
        for line in text.splitlines(keepends=True):
            lines.append(lines[-1] + len(line))
        expected = [
            Span(lines[token.start[0] - 1] + token.start[1], lines[token.end[0] - 1] + token.end[1])
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        ]
        assert list(layout(text).comments) == expected

    def test_a_very_long_line_is_no_trouble(self):
        text = "here = [" + "'\\'#', f'{x:#x}', " * 20_000 + "]  # noqa\n"
        assert suppressed(text) == EVERYTHING

    def test_what_is_never_closed_is_no_trouble(self):
        assert suppressed("here(" * 5_000 + "'''" + "'\"" * 5_000 + "f'{" * 5_000) == set()
        assert suppressed('here # noqa\n"""' + '\\"' * 50_000) == EVERYTHING


class TestSkipFile:
    @pytest.mark.parametrize(
        "text",
        [
            "# devicelint: skip-file\n",
            "#!/usr/bin/env python\n\n# made by protoc  # DEVICELINT: skip-file\r\nx = 1",
            "\x0c\r  # devicelint:skip-file (made by a tool)",
        ],
    )
    def test_before_the_first_statement(self, text):
        assert SourceFile.from_text(text).skipped

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "x = 1\n# devicelint: skip-file\n",
            "'# devicelint: skip-file'\n",
            "'''\n# devicelint: skip-file\n'''\n",
            "# devicelint: skip-files\n",
            "# devicelint: skip\n",
            "# flake8: noqa\n",
        ],
    )
    def test_nowhere_else(self, text):
        assert not SourceFile.from_text(text).skipped


class TestSelectors:
    def test_the_more_is_said_the_higher(self):
        name = "mixed-devices"
        words = ["D", "DEV", "DEV1", "DEV102"]
        assert [specificity(word, "DEV102", name) for word in words] == [1, 3, 4, 6]
        assert specificity("Mixed-Devices", "DEV102", name) == 6
        assert [specificity(word, "DEV102", name) for word in ["", "DEV2", "mixed"]] == [0, 0, 0]

    @pytest.mark.parametrize("word", ["D", "DEV", "dev1", "DEV102", "mixed-devices"])
    def test_known(self, word):
        assert unknown_selector(word, RULES) is None

    @pytest.mark.parametrize(
        ("word", "told"),
        [
            ("DEV103", 'no rule is called "DEV103"; did you mean "DEV10'),
            ("dev1O2", 'no rule is called "dev1O2"; did you mean "DEV102"?'),
            ("mixed-device", 'no rule is called "mixed-device"; did you mean "mixed-devices"?'),
            ("numpy_on_device", 'did you mean "numpy-on-device"?'),
            ("E501", 'no rule is called "E501"'),
            ("", 'no rule is called ""'),
        ],
    )
    def test_unknown(self, word, told):
        assert told in (unknown_selector(word, RULES) or "")
