"""The harness under a fake analyser: whatever a page claims wrongly fails, and says where."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from tests.mdtest import plugin
from tests.mdtest.analyser import BadSettings, NotChecked, Observation
from tests.mdtest.expectations import annotated
from tests.mdtest.page import Files, sections
from tests.mdtest.runner import Complaint, comparable_diff, complaints, diff_body
from tests.mdtest.update import updated


@dataclass(frozen=True)
class Word:
    """A function name that the fake analyser objects to."""

    kind: str
    code: str
    rule: str
    fix: str | None = None
    becomes: str = ""


WORDS = {
    "bad": Word("error", "FAKE1", "bad-call", "safe", "good"),
    "risky": Word("warning", "FAKE2", "risky-call", "unsafe", "careful"),
    "odd": Word("note", "FAKE3", "odd-call"),
    "endless": Word("error", "FAKE4", "endless-call", "safe", "endless_"),
    "stubborn": Word("error", "FAKE5", "stubborn-call", "safe", "risky"),
}
BOUND = "bad = risky = odd = good = careful = endless = stubborn = print"
CALL = re.compile(r"\b(\w+)\(")


class FakeAnalyser:
    """Objects to calls of the functions in `WORDS`, and takes every value to be on the CPU."""

    def rules(self) -> frozenset[str]:
        return frozenset(name for word in WORDS.values() for name in (word.code, word.rule))

    def among(self, files: Files) -> AbstractContextManager[None]:
        return nullcontext()

    def check(self, code: str, path: str, settings: str) -> tuple[Observation, ...]:
        if "refuse" in settings:
            raise BadSettings("refused by settings", 2)
        if "REFUSED" in code:
            raise NotChecked("refused code", 2)
        return tuple(self._observations(code)) if "quiet" not in settings else ()

    def fix(self, code: str, path: str, settings: str, *, unsafe: bool) -> str:
        def repaired(call: re.Match[str]) -> str:
            if call[1].startswith("endless"):
                return f"{call[1]}_("
            word = WORDS.get(call[1])
            applicable = ("safe", "unsafe") if unsafe else ("safe",)
            return f"{word.becomes}(" if word and word.fix in applicable else call[0]

        return CALL.sub(repaired, code)

    def adopt(self, code: str, path: str, settings: str) -> tuple[str, str]:
        adopted = code.replace("host(", "pattern(").replace("restless(", "restless(1 +")
        return adopted, "".join(f"{path}: odd\n" for _ in range(code.count("odd(")))

    def adopt_all(self, files: Files, settings: str) -> tuple[tuple[str, str], ...]:
        return tuple(self.adopt(code, path, settings) for path, code in files)

    def report(self, code: str, path: str, settings: str) -> str:
        return "\n".join(f"{path}:{item.line} {item.rule}" for item in self._observations(code))

    def _observations(self, code: str) -> list[Observation]:
        found = []
        for number, line in enumerate(code.split("\n"), start=1):
            for call in CALL.finditer(line):
                column = call.start() + 1
                if call[1] == "reveal_device":
                    found.append(Observation(number, column, "revealed", "DEV000", "", "cpu"))
                elif word := WORDS.get(call[1]):
                    message = f"do not call {call[1]}"
                    found.append(
                        Observation(
                            number, column, word.kind, word.code, word.rule, message, word.fix
                        )
                    )
        return found


def page(text: str) -> str:
    """A page written with `~~~` for its fences; fences of its own would end a docstring's."""
    return dedent(text).replace("~~~", "```").lstrip("\n")


def run(text: str, *, executes: bool = True) -> list[Complaint]:
    return [
        complaint
        for section in sections(page(text))
        for complaint in complaints(section, FakeAnalyser(), executes=executes)
    ]


def run_code(code: str) -> list[Complaint]:
    return run(f"# Page\n~~~py\n{BOUND}\n\n{code}\n~~~\n")


def only(found: list[Complaint]) -> Complaint:
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    "code",
    [
        "good(1)",
        "bad(1)  # error",
        "bad(1)  # error: [bad-call]",
        "bad(1)  # error: [FAKE1]",
        "bad(1)  # error: 1 [bad-call]",
        'bad(1)  # error: "do not"',
        'bad(1)  # error: 1 [bad-call] "not call bad"',
        "risky(1)  # warning: [risky-call]",
        "odd(1)  # note: 1 [odd-call]",
        "bad(risky(1))  # error: [bad-call]  # warning: [risky-call]",
        "bad(bad(1))  # error  # error: 1",
        "reveal_device(1)  # revealed: cpu",
        "# error: [bad-call]\nbad(1)",
        "# error: [bad-call]\n\n# an ordinary remark\nbad(1)",
        "# error: [bad-call]\n# warning\nbad(risky(1))",
        "bad(  # error: [bad-call]\n    risky(1),  # warning: [risky-call]\n)",
        "bad(1)  # noqa  # error: [bad-call]",
        "good('# error: [bad-call]')",
        "good(1)  # todo error: [bad-call]",
        "good(1)  # noted the error of bad calls",
        "import os\nos.getcwd()",
    ],
)
def test_holds(code: str) -> None:
    assert run_code(code) == []


@pytest.mark.parametrize(
    ("code", "expected", "actual"),
    [
        ("bad(1)", "nothing more", '# error: 1 [bad-call] "do not call bad"'),
        ("good(1)  # error", "# error", "nothing more"),
        ("odd(1)  # error", "# error", "# note: 1"),
        ("bad(1)  # warning", "# warning", "# error: 1"),
        ("bad(1)  # error: 2", "# error: 2", "# error: 1"),
        ("bad(1)  # error: [odd-call]", "# error: [odd-call]", "[bad-call]"),
        ('bad(1)  # error: "was called"', '# error: "was called"', "do not call"),
        ("bad(1)  # error  # error", "# error", "nothing more"),
        ("bad(bad(1))  # error", "nothing more", "# error: 5"),
        ("reveal_device(1)", "nothing more", "# revealed: cpu"),
        ("reveal_device(1)  # revealed: cuda:0", "# revealed: cuda:0", "# revealed: cpu"),
        ("bad(1)  # todo error: [bad-call]", "# todo error: [bad-call]", "works now"),
        ("bad(1)  # error: [bad-cal]", "a known rule", "`bad-cal`"),
        ("good(1)  # todo error: [bad-cal]", "a known rule", "`bad-cal`"),
        ("bad(1)  # error: bad-call", "can be read", "looks like an expectation"),
        ("bad(1)  # error [bad-call]", "can be read", "looks like an expectation"),
        ("bad(1)  # Error: [bad-call]", "can be read", "looks like an expectation"),
        ("bad(1)  # errors: [bad-call]", "can be read", "looks like an expectation"),
        ("bad(1)  #error: [bad-call]", "can be read", "looks like an expectation"),
        ("good(1)\n# error", "can be read", "no line of code follows"),
        ("good(absent)", "names that the block binds", "undefined name 'absent'"),
        ("good(", "can be read", "does not parse"),
    ],
)
def test_fails(code: str, expected: str, actual: str) -> None:
    complaint = only(run_code(code))
    assert expected in complaint.expected
    assert actual in complaint.actual


def test_a_complaint_names_the_line_of_the_page_and_shows_the_code() -> None:
    complaint = only(run_code("# error\nbad(1)\n# error: [odd-call]\n\nbad(1)  # error"))
    assert (complaint.line, complaint.code) == (7, "bad(1)")


def test_an_unannounced_finding_is_shown_with_its_line() -> None:
    complaint = only(run_code("# warning\nrisky(1)\nbad(1)"))
    assert (complaint.line, complaint.code) == (7, "bad(1)")


def test_expectations_are_not_part_of_the_code() -> None:
    bare = annotated("a = 1  # error\n# error\nb = 2  # remark  # error: [x]\nc = 3  # remark\n")
    assert bare.code == "a = 1\nb = 2  # remark\nc = 3  # remark\n"
    assert [(one.line, one.origin) for one in bare.expectations] == [(1, 1), (2, 2), (2, 3)]


def test_sections_are_named_by_their_headings() -> None:
    text = "# Top\n~~~py\n~~~\n## A\n### B\n~~~py\n# not a heading\n~~~\n## C ##\nprose\n"
    names = [section.name for section in sections(page(text))]
    assert names == ["(before the first heading)", "Top", "A", "A / B", "C"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("~~~python\n~~~", "write `py`"),
        ("~~~\n~~~", "write `console`"),
        ("~~~py\n", "never closed"),
        ("- ~~~py\n  ~~~", "start of a line"),
        ("~~~py foo\n~~~", "unknown tag"),
        ("~~~py ignore\n~~~", "needs a reason"),
        ("~~~diff\n~~~", "follows no checked `py` block"),
        ("~~~text\n~~~", "follows no checked `py` block"),
        ("~~~py ignore a fragment\n~~~\n~~~diff\n~~~", "follows no checked `py` block"),
        ("~~~py\n~~~\n~~~diff dangerous\n+x\n~~~", "unknown tag"),
        ("~~~toml\n~~~\n~~~toml\n~~~", "one `toml`"),
        ("`a.py`:\nprose", "no `py` block follows"),
        ("`a.py`:\n", "no `py` block follows"),
        ("`a.py`:\n~~~py\n~~~\n`a.py`:\n~~~py\n~~~", "given twice"),
        ("## A\n## B\n## A\n", "appears before"),
    ],
)
def test_refuses_what_would_silently_prove_nothing(text: str, message: str) -> None:
    problems = [problem for section in sections(page(text)) for problem in section.problems]
    assert any(message in problem.message for problem in problems), problems


def test_named_blocks_and_ignored_ones() -> None:
    (_, section) = sections(
        page("# P\n`a.py`:\n\n~~~py\n~~~\n~~~py run\n~~~\n~~~py ignore: a fragment\n(\n~~~\n")
    )
    assert [example.path for example in section.examples] == ["a.py", "example.py"]
    assert section.problems == ()


def test_settings_reach_the_analyser() -> None:
    code = "~~~py\nbad = print\nbad(1)\n~~~\n"
    assert len(run(f"# P\n{code}")) == 1
    assert run(f"# P\n~~~toml\nquiet = true\n~~~\n{code}") == []
    refused = only(run(f"# P\n~~~toml\n\nrefuse = true\n~~~\n{code}"))
    assert (refused.line, refused.actual) == (4, "refused by settings")


def test_code_that_cannot_be_checked_is_told_by_its_line() -> None:
    refused = only(run_code("# error\nREFUSED = 1"))
    assert (refused.line, refused.actual) == (4, "refused code")


def example(code: str, diff: str) -> str:
    """An example and its fix; `BOUND` in the diff stands for the line before the code."""
    text = f"# Page\n~~~py\nBOUND\n{code}\n~~~\n~~~{diff}\n~~~\n"
    return text.replace("BOUND", BOUND)


@pytest.mark.parametrize(
    "diff",
    [
        "diff\n BOUND\n-bad(1)\n-risky(odd(2))\n+good(1)\n+careful(odd(2))",
        "diff safe\n BOUND\n-bad(1)\n+good(1)\n risky(odd(2))",
    ],
)
def test_the_fix_is_the_diff(diff: str) -> None:
    assert run(example("bad(1)  # error\nrisky(odd(2))  # warning  # note", diff)) == []


@pytest.mark.parametrize(
    ("text", "actual"),
    [
        (example("bad(1)  # error", "diff\n BOUND\n-bad(1)\n+best(1)"), "+good(1)"),
        (example("bad(1)  # error", "diff unsafe\n BOUND\n-bad(1)\n+good(1)"), "safe fixes change"),
        (example("good(1)", "diff"), "changes nothing"),
        (
            example("stubborn(1)  # error", "diff safe\n BOUND\n-stubborn(1)\n+risky(1)"),
            "[risky-call]",
        ),
        (
            example("endless(1)  # error", "diff\n BOUND\n-endless(1)\n+endless_(1)"),
            "+endless__(1)",
        ),
    ],
)
def test_a_wrong_fix_fails(text: str, actual: str) -> None:
    assert actual in only(run(text)).actual


def test_an_unsafe_fix_can_be_told_from_a_safe_one() -> None:
    text = example("risky(1)  # warning", "diff unsafe\n BOUND\n-risky(1)\n+careful(1)")
    assert run(text) == []


def test_the_report_is_the_text() -> None:
    text = "# Page\n~~~py\nbad = print\nbad(1)  # error\n~~~\n~~~text\n{}\n~~~\n"
    assert run(text.format("example.py:2 bad-call")) == []
    assert "example.py:2" in only(run(text.format("example.py:1 bad-call"))).actual


def test_diffs_have_no_names_and_no_numbers() -> None:
    before = "\n".join("abcdefghijklmnopqrst")
    after = before.replace("a", "A").replace("t", "T")
    body = diff_body(before, after)
    assert body == "-a\n+A\n b\n c\n d\n@@\n q\n r\n s\n-t\n+T\n"
    assert comparable_diff(f"--- x.py\n+++ x.py\n@@ -1,4 +1,4 @@\n{body}") == body


def test_update_touches_generated_blocks_only() -> None:
    text = page("# P\n~~~py\nx = 1\n~~~\n~~~diff\n-old\n~~~\nbetween\n~~~text\nold\n~~~\nend\n")
    (section,) = (found for found in sections(text) if found.examples)
    (shown,) = section.examples
    new = updated(text, [(shown.diffs[0], "-a\n+b\n"), (shown.reports[0], "new\n")])
    assert new == text.replace("-old\n", "-a\n+b\n").replace("\nold\n", "\nnew\n")
    with pytest.raises(ValueError, match="written by hand"):
        updated(text, [(shown.code, "x = 2\n")])


@pytest.fixture
def rules(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose pages are collected, with the fake analyser behind them."""
    monkeypatch.setattr(plugin, "analyser", FakeAnalyser)
    return pytester.mkdir("devicelint") / "rules"


def test_pages_are_collected_by_heading_and_failures_point_into_them(
    pytester: pytest.Pytester, rules: Path
) -> None:
    rules.mkdir()
    text = "# P\n## Good\n~~~py\nprint(1)\n~~~\n## Bad\n~~~py\nbad = print\nbad(1)\n~~~\n"
    (rules / "page.md").write_text(page(text))
    (rules.parent / "elsewhere.md").write_text(page(text))
    result = pytester.runpytest_inprocess("-v", plugins=[plugin])
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "devicelint/rules/page.md::Good PASSED*",
            "devicelint/rules/page.md::Bad FAILED*",
            "devicelint/rules/page.md:9:",
            "  expected: nothing more on this line",
            '  actual:   # error: 1 [[]bad-call] "do not call bad"',
            "  code:     bad(1)",
        ]
    )


def test_update_rewrites_the_page_and_the_second_run_passes(
    pytester: pytest.Pytester, rules: Path
) -> None:
    rules.mkdir()
    text = page(example("bad(1)  # error", "diff") + "more\n~~~text\nold\n~~~\n")
    (rules / "page.md").write_text(text)
    pytester.runpytest_inprocess(plugins=[plugin]).assert_outcomes(failed=1)
    assert (rules / "page.md").read_text() == text
    pytester.runpytest_inprocess("--update", plugins=[plugin]).assert_outcomes(passed=1)
    assert "+good(1)\n" in (rules / "page.md").read_text()
    pytester.runpytest_inprocess(plugins=[plugin]).assert_outcomes(passed=1)


ADOPTED = """
~~~py
from functions import bad, good, host, odd, pattern, restless

{code}
~~~

~~~diff adopt
 from functions import bad, good, host, odd, pattern, restless

-{code}
+{adopted}
~~~
"""


def adoption(code: str, adopted: str, more: str = "") -> list[Complaint]:
    return run("# Page\n" + ADOPTED.format(code=code, adopted=adopted) + more)


def test_a_page_shows_what_adoption_makes_of_its_code() -> None:
    assert adoption("host(1)", "pattern(1)") == []
    assert "pattern(1)" in only(adoption("host(1)", "pattern(2)")).actual


def test_adoption_has_to_change_something() -> None:
    assert only(adoption("good(1)", "good(2)")).actual == "adoption changes nothing"


def test_adopting_twice_has_to_be_as_once() -> None:
    found = adoption("restless(1)", "restless(1 +1)")
    assert only(found).expected == "adopting twice is as once"


def test_what_adoption_leaves_is_said() -> None:
    code, adopted = "host(1), odd(1)  # note", "pattern(1), odd(1)"
    shown = adopted.replace("pattern", "host")
    page = ADOPTED.format(code=code, adopted=adopted).replace(f"-{code}", f"-{shown}")
    assert only(run("# Page\n" + page)).actual == "example.py: odd\n"
    assert run("# Page\n" + page + "\n~~~text left\nexample.py: odd\n~~~\n") == []
    found = run("# Page\n" + page + "\n~~~text left\nexample.py: even\n~~~\n")
    assert only(found).actual == "example.py: odd\n"


def test_adoption_may_leave_all_as_it_is() -> None:
    page = f"# Page\n~~~py\n{BOUND}\n\nodd(1)  # note\n~~~\n\n~~~text left\nexample.py: odd\n~~~\n"
    assert run(page) == []
    found = only(run(page.replace("odd(1)  # note", "host = odd; host(odd(1))  # note")))
    assert found.expected == "adoption changes nothing, or a `diff adopt` block"


SEVERAL = """
`functions.py`:

~~~py
def pattern(x):
    return x


host = pattern
~~~

`other.py`:

~~~py
from functions import host, pattern

value = pattern({other})
~~~

`main.py`:

~~~py run
import other
from functions import host, pattern

value = host(other.value)
~~~

~~~diff adopt led
 import other
 from functions import host, pattern

-value = host(other.value)
+value = {adopted}(other.value)
~~~
"""


def together(other: str = "1", adopted: str = "pattern") -> list[Complaint]:
    return run("# Page\n" + SEVERAL.format(other=other, adopted=adopted))


def test_a_page_shows_what_adoption_makes_of_several_files() -> None:
    assert "pattern(" in only(together(adopted="wrong")).actual


def test_a_file_that_adoption_changes_has_to_be_shown() -> None:
    found = together(other="host(1)")
    assert [one.expected for one in found] == ["the adoption of other.py"]
