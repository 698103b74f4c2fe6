"""GitHub Actions: what its runner reads in the lines of a log."""

import pytest

from devicelint.finding import InputError
from tests.output import samples
from tests.output.readers import command


def commands(*files, problems=()) -> list[tuple[str, dict[str, str], str]]:
    lines = samples.written("github", files, problems).splitlines()
    return [command(line) for line in lines]


def test_everything_can_be_read():
    log = samples.everything("github")
    told = [command(line) for line in log.split("\n")[:-1]]
    assert [name for name, _, _ in told] == [
        *("error", "warning", "notice", "error", "error", "error", "error", "error", "error")
    ]
    assert all(properties["file"] for _, properties, _ in told)
    assert "\x1b" not in log


def test_a_finding_is_an_annotation_of_its_line():
    name, properties, message = commands(samples.awkward("/project/a,b: 1%.py"))[0]
    assert name == "error"
    assert properties == {
        "title": "DEV101 module-input-elsewhere",
        "file": "a,b: 1%.py",
        "line": "3",
        "col": "24",
        "endColumn": "29",
        "endLine": "3",
    }
    assert message.splitlines() == [
        "/project/a,b: 1%.py:3:23: DEV101 `batch` is on the CPU since line 2",
        "line 1: moved to cuda here",
        "line 2: fails here",
        "with an accelerator",
        "fix: Move it (safe)",
    ]


def test_several_lines_have_no_columns_which_github_would_refuse():
    name, properties, message = commands(samples.awkward())[1]
    assert name == "warning"
    assert (properties["line"], properties["endLine"]) == ("4", "6")
    assert properties.keys().isdisjoint({"col", "endColumn"})
    assert "DEV401 100%: a\\r\\nb ::error::" in message
    assert "\n/project/other.py:3:5: handed over here\n" in message


def test_a_file_elsewhere_keeps_its_path():
    ((name, properties, _),) = commands(samples.revealed())
    assert (name, properties["file"]) == ("notice", "/elsewhere/x.py")


@pytest.mark.parametrize("checked", samples.NOTEBOOKS)
def test_a_finding_in_a_notebook_is_on_a_line_of_the_file_and_told_by_its_cell(checked):
    ((_, properties, message),) = commands(checked)
    raw = checked.source.document.to_text()
    assert "model(x)" in raw.splitlines()[int(properties["line"]) - 1]
    assert message.startswith("/project/note book.ipynb:cell 3:line 1:")


def test_what_could_not_be_checked_is_an_error():
    first, second = commands(problems=samples.PROBLEMS)
    assert first == (
        "error",
        {"title": "devicelint", "file": "a dir/broken.py", "line": "3", "col": "5"},
        "/project/a dir/broken.py:3:5: syntax error: bad, 100% \\x07wrong",
    )
    assert second[1] == {"title": "devicelint", "file": "n.ipynb"}


def test_a_problem_of_several_lines_stays_one_command():
    problem = InputError("a.py", 1, 0, "one\n::error::two")
    assert samples.written("github", [], [problem]).count("\n") == 1
