"""What the reporters make of findings that are put together by hand."""

import itertools
import json
import subprocess

import pytest

from devicelint.finding import (
    Certainty,
    Edit,
    Finding,
    Fix,
    Related,
    Safety,
    Severity,
    Span,
)
from devicelint.linter.result import CheckResult
from devicelint.output import diff, statistics, summary, trace
from devicelint.output.formats import concise, text
from devicelint.output.formats import json as json_format
from devicelint.output.internal_error import describe
from devicelint.output.paint import coloured
from devicelint.output.reporter import ReportContext
from devicelint.output.visible import cell_width, printable, strip
from devicelint.text.source import SourceFile
from devicelint.views.trace import Trace

SCRIPT = """\
device = torch.device("cuda")
model = Net().to(device)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters())
for x, y in loader:
    x = x.to(device)
    loss = criterion(model(x), y)
"""


def span(code: str, part: str, occurrence: int = 1) -> Span:
    start = -1
    for _ in range(occurrence):
        start = code.index(part, start + 1)
    return Span(start, start + len(part))


def as_json(*files: CheckResult) -> str:
    report = json_format.JsonReporter(ReportContext())
    return "".join(map(report.file, files)) + report.end()


def finding(where: Span, **changes) -> Finding:
    described = {
        "code": "DEV102",
        "name": "mixed-devices",
        "severity": Severity.ERROR,
        "message": "y is on the CPU",
        "span": where,
    }
    return Finding(**{**described, **changes})


def report(code: str, *findings: Finding, **options) -> str:
    return text.render(CheckResult(SourceFile.from_text(code, "train.py"), findings), **options)


def fix(*edits: Edit, safety: Safety = Safety.SAFE) -> Fix:
    return Fix("move y to device", edits, safety)


# The text format


def test_a_finding_is_a_header_a_frame_its_condition_and_its_fix():
    shown = report(
        SCRIPT,
        finding(
            span(SCRIPT, "criterion(model(x), y)"),
            related=(
                Related(span(SCRIPT, "Net().to(device)"), "moved here"),
                Related(span(SCRIPT, "model(x)"), "on cuda"),
                Related(Span(SCRIPT.index("y)"), SCRIPT.index("y)") + 1), "on the CPU"),
            ),
            machine="with an accelerator",
            fix=fix(),
        ),
    )
    assert shown == (
        "train.py:7:12: error DEV102 mixed-devices: y is on the CPU\n"
        "  |\n"
        "2 | model = Net().to(device)\n"
        "  |         ---------------- moved here\n"
        "… |\n"
        "7 |     loss = criterion(model(x), y)\n"
        "  |            ^^^^^^^^^^^^^^^^^^^^^^\n"
        "  |                      -------- on cuda\n"
        "  |                                - on the CPU\n"
        "  with an accelerator\n"
        "  fix: move y to device (safe)\n"
        "\n"
    )


def test_marks_without_a_message_share_a_row_with_the_next():
    code = "a + b\n"
    where = finding(span(code, "a"), related=(Related(span(code, "b"), "on the CPU"),))
    assert "  | ^   - on the CPU\n" in report(code, where)


def test_what_is_said_of_the_primary_place_stands_under_it():
    code = "model(x)\n"
    where = finding(span(code, "x"), related=(Related(span(code, "x"), "created here"),))
    assert "  |       ^ created here\n" in report(code, where)


def test_the_same_evidence_is_shown_once():
    code = "f(x)\n"
    twice = Related(span(code, "x"), "created here")
    assert report(code, finding(span(code, "f"), related=(twice, twice))).count("created") == 1


def test_one_line_between_two_others_is_shown_and_more_are_left_out():
    code = "a\nb\nc\nd\ne\nf\n"
    where = finding(
        span(code, "a"), related=(Related(span(code, "c"), "c"), Related(span(code, "f"), "f"))
    )
    shown = [line[:5].rstrip() for line in report(code, where).splitlines()]
    assert shown[2:11] == ["1 | a", "  | ^", "2 | b", "3 | c", "  | -", "… |", "6 | f", "  | -", ""]


def test_line_numbers_are_right_aligned():
    code = "a\n" * 9 + "b\n"
    lines = report(code, finding(Span(16, 17), related=(Related(Span(18, 19), "b"),)))
    assert " 9 | a\n   | ^\n10 | b\n" in lines


def test_a_tab_is_as_wide_as_its_marks_think():
    code = "\tif a:\tb\n"
    assert "1 |     if a:   b\n  |             ^\n" in report(code, finding(span(code, "b")))


def test_wide_characters_are_marked_by_cells():
    code = "s = '日本語'; f(s)\n"
    shown = report(code, finding(span(code, "日本"), related=(Related(span(code, "f"), "f"),)))
    assert "  |      ^^^^     - f\n" in shown


def test_combining_characters_take_no_cell():
    code = "s = 'e\u0301'; f(s)\n"
    row = report(code, finding(span(code, "f"))).splitlines()[3]
    assert row == "  |          ^"


def test_an_empty_span_has_one_mark():
    assert "  | ^\n" in report("x\n", finding(Span(0, 0)))
    assert "  |  ^\n" in report("x\n", finding(Span(1, 1)))


def test_an_empty_file_can_be_pointed_at():
    assert "1 |\n  | ^\n" in report("", finding(Span(0, 0)))


def test_a_span_over_lines_is_marked_on_each():
    code = "y = model(\n    x,\n\n    z)\n"
    where = finding(span(code, "model(\n    x,\n\n    z)"), related=())
    assert report(code, where).splitlines()[2:-1] == [
        "1 | y = model(",
        "  |     ^^^^^^",
        "2 |     x,",
        "  |     ^^",
        "3 |",
        "4 |     z)",
        "  |     ^^",
    ]


def test_a_long_span_shows_its_ends_and_says_its_message_once():
    code = "f(\n" + "    x,\n" * 8 + ")\n"
    where = finding(Span(0, len(code) - 1), related=(Related(Span(0, len(code) - 1), "here"),))
    shown = report(code, where)
    assert shown.count("x,") == 1
    assert "10 | )\n   | ^ here\n" in shown
    assert " … |\n" in shown


def test_a_span_that_ends_with_its_line_does_not_reach_into_the_next():
    assert "2 |" not in report("x = 1\ny = 2\n", finding(Span(0, 6)))


def test_line_ends_and_form_feeds_do_not_reach_the_terminal():
    code = "\x0cx = 1\r\ny = 2\rz = 3\r\n"
    shown = report(code, finding(span(code, "x"), related=(Related(span(code, "z"), "z"),)))
    assert "1 | ␌x = 1\n  |  ^\n2 | y = 2\n3 | z = 3\n  | - z\n" in shown


def test_a_place_of_nothing_but_blanks_is_marked_where_it_begins():
    assert report("x = 1\n \n", finding(Span(5, 7))).splitlines()[1:4] == [
        "  |",
        "1 | x = 1",
        "  |      ^",
    ]


def test_escapes_in_the_code_the_path_and_the_message_do_not_reach_the_terminal():
    source = SourceFile.from_text("s = '\x1b[31m\u202e'\n", "a\x1bb.py")
    shown = text.render(CheckResult(source, (finding(Span(0, 1), message="on\x1b[2J\nx"),)))
    assert shown.isprintable() is False
    assert {character for character in shown if not character.isprintable()} == {"\n"}
    assert "a\\x1bb.py:1:1: error DEV102 mixed-devices: on\\x1b[2J\\nx\n" in shown


def test_a_long_line_keeps_what_is_near_the_marks():
    code = "first = " + " + ".join(["number"] * 60) + " + last\n"
    where = finding(span(code, "last"), related=(Related(span(code, "first"), "far"),))
    line, near, far = report(code, where, width=60).splitlines()[2:5]
    assert line.startswith("1 | first = number + ")
    assert line.endswith("number + last")
    assert line.count("…") == 1
    assert cell_width(line) <= 64
    assert near == "  | ----- far"
    assert far.index("^") == line.index("last")


def test_certainty_is_told_where_it_is_not_complete():
    shown = report("x\n", finding(Span(0, 1), certainty=Certainty.BELIEF, machine="with two GPUs"))
    assert "  with two GPUs; by belief: the code assumes" in shown


def test_colour_changes_nothing_but_the_colour():
    where = finding(
        span(SCRIPT, "y", 2), related=(Related(span(SCRIPT, "model"), "moved"),), fix=fix()
    )
    painted = report(SCRIPT, where, paint=coloured)
    assert "\x1b[1;31m^" in painted
    parts = [part.split("m", 1) for part in painted.split("\x1b[")]
    plain = parts[0][0] + "".join(part[1] for part in parts[1:])
    assert plain == report(SCRIPT, where)


@pytest.mark.parametrize("width", [1, 20, 80])
def test_every_character_of_a_line_has_a_cell(width):
    line = "\tx = '日本' + e\u0301 " * 9
    for start, end in itertools.combinations(range(0, len(line), 7), 2):
        shown = strip(line, [(start, end)], width)
        assert len(shown.cells) == len(line) + 1
        assert list(shown.cells) == sorted(shown.cells)
        assert shown.cells[-1] == cell_width(shown.text)


def test_printable_leaves_letters_alone():
    assert printable("größe 日本") == "größe 日本"
    assert printable("a\tb\u2028\udc80") == "a\\tb\\u2028\\udc80"


# The others


def test_concise_counts_lines_and_columns_from_one():
    checked = CheckResult(
        SourceFile.from_text(SCRIPT, "a/train.py"), (finding(span(SCRIPT, "criterion(")),)
    )
    assert concise.render(checked) == "a/train.py:7:12: DEV102 y is on the CPU\n"


def test_json_has_the_keys_of_ruff_and_our_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "é = f(x,\n      y)\n"
    edit = Edit(span(code, "y"), "y.to(é)")
    where = finding(
        span(code, "f(x,\n      y)"),
        related=(Related(span(code, "x"), "on cuda"),),
        certainty=Certainty.CONTRACT,
        machine="with an accelerator",
        fix=fix(edit, safety=Safety.UNSAFE),
    )
    rendered = as_json(CheckResult(SourceFile.from_text(code, "train.py"), (where,)))
    assert rendered.isascii()
    assert json.loads(rendered) == [
        {
            "cell": None,
            "certainty": "by contract",
            "code": "DEV102",
            "end_location": {"row": 2, "column": 9},
            "filename": str(tmp_path / "train.py"),
            "fix": {
                "applicability": "unsafe",
                "edits": [
                    {
                        "content": "y.to(é)",
                        "end_location": {"row": 2, "column": 8},
                        "location": {"row": 2, "column": 7},
                    }
                ],
                "message": "move y to device",
            },
            "location": {"row": 1, "column": 5},
            "machine": "with an accelerator",
            "message": "y is on the CPU",
            "name": "mixed-devices",
            "noqa_row": 2,
            "related": [
                {
                    "end_location": {"row": 1, "column": 8},
                    "location": {"row": 1, "column": 7},
                    "message": "on cuda",
                }
            ],
            "severity": "error",
            "url": None,
        }
    ]


def test_json_has_every_key_of_the_installed_ruff(tmp_path):
    ruff = pytest.importorskip("ruff")
    (tmp_path / "a.py").write_text("import os\n", encoding="utf-8")
    run = subprocess.run(
        [ruff.find_ruff_bin(), "check", "--isolated", "--output-format", "json", "a.py"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    theirs = json.loads(run.stdout)[0]
    where = finding(Span(0, 1), fix=fix(Edit(Span(0, 1), "y")))
    ours = json.loads(as_json(CheckResult(SourceFile.from_text("x\n"), (where,))))[0]
    assert theirs.keys() <= ours.keys()
    assert theirs["fix"].keys() == ours["fix"].keys()
    assert theirs["fix"]["edits"][0].keys() == ours["fix"]["edits"][0].keys()


def test_json_of_nothing_is_an_empty_list():
    assert json.loads(as_json()) == []


def many() -> list[CheckResult]:
    source = SourceFile.from_text(SCRIPT, "train.py")
    there = Span(0, 1)
    return [
        CheckResult(source, (finding(there, fix=fix()), finding(there, severity=Severity.WARNING))),
        CheckResult(
            source,
            (
                finding(there, code="DEV101", name="module-input-elsewhere", fix=fix()),
                finding(there, fix=fix(safety=Safety.UNSAFE)),
            ),
        ),
    ]


def test_statistics_count_by_rule_the_most_frequent_first():
    assert statistics.render(many()) == (
        "3  DEV102  [-] mixed-devices\n1  DEV101  [*] module-input-elsewhere\n"
    )
    assert statistics.render([]) == ""
    assert json.loads(statistics.render_json(many()))[0] == {
        "code": "DEV102",
        "count": 3,
        "fixable": False,
        "fixable_count": 2,
        "name": "mixed-devices",
    }


def test_the_summary_counts_by_severity_and_by_what_can_be_fixed():
    expected = "Found 3 errors, 1 warning; 2 fixable with --fix, 1 with --unsafe-fixes"
    assert summary.found(many()) == expected
    assert summary.found(many(), unsafe_fixes=True).endswith("; 3 fixable with --fix")
    assert summary.found([]) == ""
    unsafe = finding(Span(0, 1), fix=fix(safety=Safety.UNSAFE))
    only_unsafe = [CheckResult(SourceFile.from_text("x"), (unsafe,))]
    assert summary.found(only_unsafe) == "Found 1 error; 1 fixable with --unsafe-fixes"
    assert summary.fixed(2, 1) == "Fixed 2 findings in 1 file"
    assert summary.fixed(1, 1, would=True) == "Would fix 1 finding in 1 file"


# The trace


def test_notes_without_room_go_on_in_the_margin_below():
    source = SourceFile.from_text("x, y = f()\ny = 1\n\nz\n", "a.py")
    lines = Trace(((1, ("x: cpu", "y: cuda:0", "z: cpu")), (4, ("z: cpu",))))
    assert trace.render(source, lines, width=36) == (
        "1  x, y = f()  | x: cpu, y: cuda:0\n"
        "               | z: cpu\n"
        "2  y = 1\n"
        "3\n"
        "4  z           | z: cpu\n"
    )


def test_notes_follow_code_that_is_wider_than_the_margin():
    source = SourceFile.from_text("x = " + "1" * 90 + "\ny = 2\n", "a.py")
    shown = trace.render(source, Trace(((1, ("x: cpu", "y: cpu")), (2, ("y: cpu",)))), width=40)
    first, second, third = shown.splitlines()
    assert first.endswith("1  | x: cpu")
    assert second == " " * first.index(" | x") + " | y: cpu"
    assert third == "2  y = 2  | y: cpu"


# The diff


@pytest.mark.parametrize("name", ["train.py", "my scripts/train me.py", "é/日本.py"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
        (b"a\nb", b"a\nB"),
        (b"a\nb", b"a\nb\n"),
        (b"\xef\xbb\xbfa\n\x0cb\n", b"\xef\xbb\xbfA\n\x0cb\n"),
        (b"# coding: latin-1\ns = '\xe9'\n", b"# coding: latin-1\ns = '\xe9\xe8'\n"),
        (b"a\rb\rc\n", b"a\rB\rc\n"),
    ],
)
def test_git_applies_the_diff_to_the_byte(tmp_path, monkeypatch, name, before, after):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    patch = diff.render(SourceFile.from_bytes(before, name), SourceFile.from_bytes(after, name))
    subprocess.run(["git", "apply", "-"], input=patch, cwd=tmp_path, check=True)
    assert path.read_bytes() == after


def test_the_diff_of_nothing_is_empty():
    source = SourceFile.from_text(SCRIPT, "train.py")
    assert diff.render(source, source) == b""


def test_a_file_elsewhere_is_named_from_the_root(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = str(tmp_path / "train.py")
    patch = diff.render(SourceFile.from_text("a\n", path), SourceFile.from_text("b\n", path))
    named = (tmp_path / "train.py").relative_to(tmp_path.anchor).as_posix()
    assert patch.startswith(f"--- a/{named}\n+++ b/{named}\n@@".encode())


# Internal errors


def fail() -> None:
    raise RuntimeError("a\nb")


def test_an_internal_error_is_one_line_with_its_place():
    with pytest.raises(RuntimeError) as caught:
        fail()
    line = describe(caught.value)
    assert line.startswith("RuntimeError: a b at output/test_reporters.py:")
    assert line.endswith("(please report it)")
