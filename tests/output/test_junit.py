"""JUnit's XML: the schema of Jenkins, and what a reader of such reports finds in one."""

from functools import cache
from xml.etree import ElementTree

import junitparser
import pytest
import xmlschema

from tests.output import samples
from tests.output.samples import SCHEMAS


@cache
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")


def read(*files, problems=()) -> junitparser.JUnitXml:
    return junitparser.JUnitXml.fromstring(samples.written("junit", files, problems).encode())


@pytest.mark.parametrize("text", [samples.everything("junit"), samples.written("junit", [])])
def test_a_report_is_valid(text):
    schema().validate(ElementTree.fromstring(text))
    assert text.isascii()
    assert text.startswith("<?xml version='1.0' encoding='utf-8'?>\n")


def test_a_finding_is_a_test_that_failed():
    (suite,) = read(samples.awkward("a.py"))
    assert (suite.name, suite.tests, suite.failures, suite.errors) == ("a.py", 2, 2, 0)
    first, second = suite
    assert (first.classname, first.name) == ("a.py", "DEV101 module-input-elsewhere")
    (failure,) = first.result
    assert (failure.type, failure.message) == (
        "error",
        "line 3: `batch` is on the CPU since line 2",
    )
    assert failure.text.startswith("a.py:3:23: error DEV101 module-input-elsewhere: `batch`")
    assert "\n  fix: Move it (safe)\n" in failure.text
    (failure,) = second.result
    assert failure.type == "warning"
    assert failure.message.startswith("line 4: 100%: a\\r\\nb ::error::, \\x1b[1m ]]> <&> ")


def test_a_file_without_findings_is_a_test_that_passed():
    report = read(samples.fine())
    ((case,),) = report
    assert (case.classname, case.name, case.result) == ("/project/fine.py", "devicelint", [])
    assert (report.tests, report.failures) == (1, 0)


def test_what_was_asked_for_is_told_by_a_test_that_passed():
    ((case,),) = read(samples.revealed())
    assert case.result == []
    assert "note DEV000 revealed-device" in case.system_out


def test_tests_have_names_of_their_own_that_do_not_move():
    checked = samples.awkward()
    twice = type(checked)(checked.source, (checked.findings[0], *checked.findings))
    ((one, two, three),) = read(twice)
    assert [one.name, two.name, three.name] == [
        "DEV101 module-input-elsewhere",
        "DEV101 module-input-elsewhere 2",
        "DEV401 module-input-elsewhere",
    ]


def test_what_could_not_be_checked_is_an_error():
    report = read(samples.fine(), problems=samples.PROBLEMS)
    assert (report.tests, report.failures, report.errors) == (3, 0, 2)
    _, (broken,), (cell,) = report
    assert (broken.classname, broken.name) == ("/project/a dir/broken.py", "unchecked-file")
    (error,) = broken.result
    assert error.message == "syntax error: bad, 100% \\x07wrong"
    assert cell.result[0].text == "/project/n.ipynb:cell 4:line 2:1: cell is not checked"
