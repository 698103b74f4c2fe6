"""The command line: what it prints where, what it writes, and its exit status.

Most tests put a toy in the place of the engine, so that they are about the front end alone: it
reports `WRONG` (with a safe fix), `RISKY` (with an unsafe one) and `STUCK` (with none).
"""

import importlib
import io
import json
import os
import re
import stat
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from devicelint.cli import main
from devicelint.cli.run import examine
from devicelint.finding import Edit, Finding, Fix, InputError, Safety, Severity, Span
from devicelint.linter import lint
from devicelint.linter.lint import CheckResult, Fixed
from devicelint.views import show
from devicelint.views.trace import Trace

KINDS = {
    "WRONG": ("DEV104", "discarded-move", Severity.ERROR, Safety.SAFE),
    "RISKY": ("DEV401", "hard-coded-accelerator", Severity.WARNING, Safety.UNSAFE),
    "STUCK": ("DEV401", "hard-coded-accelerator", Severity.WARNING, None),
    "ASKED": ("DEV000", "revealed-device", Severity.NOTE, None),
}


def toy_check(source, config, project=None) -> CheckResult:
    if "CRASH" in source.text:
        raise KeyError("x")
    if "BROKEN" in source.text:
        raise InputError(source.path, 3, 4, "invalid syntax")
    found = []
    for match in re.finditer("|".join(KINDS), source.text):
        code, name, severity, safety = KINDS[match[0]]
        if config.selects(code, name) and config.holds_for(code, name, source.path):
            where = Span(*match.span())
            fix = Fix("fix it", (Edit(where, "right"),), safety) if safety else None
            found.append(Finding(code, name, severity, f"{match[0]} here", where, fix=fix))
    return CheckResult(source, tuple(found))


def toy_fix(source, config, project=None, approves=None, heard=None, known=None) -> Fixed:
    before = toy_check(source, config)
    allowed = (Safety.SAFE, Safety.UNSAFE) if config.unsafe_fixes else (Safety.SAFE,)
    applied = tuple(each for each in before.findings if each.fix and each.fix.safety in allowed)
    text = source.text
    for each in reversed(applied):
        text = text[: each.span.start] + "right" + text[each.span.end :]
    after = source.with_text(text)
    remaining = toy_check(after, config).findings
    rolled_back = remaining if "ROLLED BACK" in text else ()
    places = tuple(each.span for each in applied)
    reasons = dict.fromkeys(rolled_back, "it would introduce DEV101 on line 7")
    return Fixed(source, after, applied, rolled_back, remaining, places, reasons)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def toy(monkeypatch):
    importlib.import_module(
        "devicelint.linter.fix_files"
    )  # Or it would import the toy, and keep it.
    monkeypatch.setattr(lint, "check", toy_check)
    monkeypatch.setattr(examine, "concerns_devices", lambda source: True)
    monkeypatch.setattr(lint, "fix", toy_fix)


@pytest.fixture
def run(capfdbinary, toy):
    def run_it(*words: str) -> tuple[int, str, str]:
        status = main(words)
        out, error = capfdbinary.readouterr()
        return status, out.decode(), error.decode()

    return run_it


@pytest.fixture
def stdin(monkeypatch):
    def say(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return say


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


# Checking


def test_nothing_found_is_status_0(run):
    write("a.py", "import torch\n")
    assert run("a.py") == (0, "", "No device mistakes found in 1 file\n")
    assert run("check", "a.py", "-q") == (0, "", "")


def test_what_is_not_parsed_is_counted(run):
    write("a.py", "fine (\n")
    passed_over = "No device mistakes found in 1 file (without torch, not parsed)\n"
    assert run("a.py") == (0, "", passed_over)
    write("b.py", "import torch\n")
    told = "No device mistakes found in 2 files (1 without torch, not parsed)\n"
    assert run("a.py", "b.py") == (0, "", told)


def test_findings_are_status_1_on_stdout_and_the_summary_on_stderr(run):
    write("a.py", "WRONG\nRISKY\n")
    status, out, error = run("a.py")
    assert status == 1
    assert out.startswith("a.py:1:1: error DEV104 discarded-move: WRONG here\n  |\n1 | WRONG\n")
    assert error == ("Found 1 error, 1 warning; 1 fixable with --fix, 1 with --unsafe-fixes\n")


def test_check_is_the_default_command_and_a_folder_is_searched(run):
    write("b/c.py", "WRONG\n")
    write("a.py", "\n  STUCK\n")
    expected = "a.py:2:3: DEV401 STUCK here\nb/c.py:1:1: DEV104 WRONG here\n"
    assert run("--output-format", "concise", ".")[1] == expected
    assert run("check", "--output-format=concise")[1] == expected
    assert run("b", "--output-format", "concise", "a.py", "-q")[1] != expected


def test_a_path_given_twice_is_checked_once(run):
    write("a.py", "WRONG\n")
    assert run("a.py", "a.py", ".")[2].startswith("Found 1 error;")


def test_a_file_called_check_can_be_checked(run):
    write("check", "WRONG\n")
    assert run("./check", "--output-format", "concise")[1] == "check:1:1: DEV104 WRONG here\n"


def test_a_file_whose_name_begins_with_a_dash_can_be_checked(run):
    write("-x.py", "WRONG\n")
    assert run("--output-format", "concise", "--", "-x.py")[0] == 1


def test_quiet_prints_findings_alone_and_verbose_every_file(run):
    write("a.py", "WRONG\n")
    write("b.py", "fine\n")
    _, out, error = run("-q", ".")
    assert "DEV104" in out
    assert error == ""
    assert run("-v", ".")[2].startswith("a.py: 1 found\nb.py: 0 found\nFound 1 error")


def test_exit_zero(run):
    write("a.py", "WRONG\n")
    assert run("a.py", "--exit-zero")[0] == 0


def test_what_was_asked_for_is_no_failure(run):
    write("a.py", "ASKED\n")
    status, out, _ = run("a.py")
    assert (status, out.splitlines()[0]) == (
        0,
        "a.py:1:1: note DEV000 revealed-device: ASKED here",
    )


def test_select_and_ignore(run):
    write("a.py", "WRONG RISKY\n")
    assert "DEV401" not in run("a.py", "--select", "DEV104")[1]
    assert "DEV104" not in run("a.py", "--ignore", "discarded-move")[1]
    assert run("a.py", "--select", "DEV1,DEV4", "--ignore", "DEV")[0] in (0, 1)
    assert run("a.py", "--ignore", "DEV1", "--ignore", "DEV4")[0] == 0


def test_extend_select_adds_to_what_the_settings_select(run):
    write("a.py", "WRONG RISKY\n")
    write("pyproject.toml", "[tool.devicelint]\nselect = ['DEV104']\n")
    assert codes_of(run("a.py", *SHORT)) == ["DEV104"]
    assert codes_of(run("a.py", *SHORT, "--extend-select", "DEV4")) == ["DEV104", "DEV401"]
    assert codes_of(run("a.py", *SHORT, "--select", "DEV4")) == ["DEV401"]


SHORT = ("--output-format", "concise")


def codes_of(result: tuple[int, str, str]) -> list[str]:
    return re.findall(r"DEV\d{3}", result[1])


def test_json_is_one_list_for_all_files(run):
    write("a.py", "WRONG\n")
    write("b.py", "WRONG\n")
    entries = json.loads(run(".", "--output-format", "json")[1])
    assert [Path(entry["filename"]).name for entry in entries] == ["a.py", "b.py"]
    write("b.py", "fine\n")
    assert json.loads(run("b.py", "--output-format", "json")[1]) == []


def test_statistics_take_the_place_of_findings(run):
    write("a.py", "WRONG\nWRONG\nSTUCK\n")
    status, out, _ = run("a.py", "--statistics")
    assert status == 1
    assert out == "2  DEV104  [*] discarded-move\n1  DEV401  [ ] hard-coded-accelerator\n"
    assert json.loads(run("a.py", "--statistics", "--output-format", "json")[1])[0]["count"] == 2


# Configuration


def test_the_nearest_pyproject_holds_for_each_file(run):
    write("one/pyproject.toml", '[tool.devicelint]\nignore = ["DEV104"]\n')
    write("one/a.py", "WRONG\n")
    write("two/a.py", "WRONG\n")
    assert run(".", "--output-format", "concise")[1] == "two/a.py:1:1: DEV104 WRONG here\n"
    assert run("two", "one", "--output-format", "concise")[0] == 1


def test_a_hook_names_files_that_are_excluded(run):
    write("pyproject.toml", '[tool.devicelint]\nexclude = ["third_party"]\n')
    write("third_party/a.py", "WRONG\n")
    write("b.py", "x\n")
    assert run("third_party/a.py", "b.py")[0] == 1
    assert run("--force-exclude", "third_party/a.py", "b.py")[0] == 0


def test_each_folder_says_itself_what_is_passed_over_in_it(run):
    for folder in (".", "gen", "one/gen", "one/old", "two/gen", "two/old"):
        write(f"{folder}/a.py", "WRONG\n")
    write("pyproject.toml", '[tool.devicelint]\nexclude = ["gen"]\n')
    write("one/devicelint.toml", 'exclude = ["old"]\n')
    shown = run("--output-format", "concise", "-q")[1].splitlines()
    found = [line.partition(":")[0].replace(os.sep, "/") for line in shown]
    assert found == ["a.py", "one/gen/a.py", "two/old/a.py"]


def test_config_takes_the_place_of_pyproject(run):
    write("pyproject.toml", '[tool.devicelint]\nignore = ["DEV104"]\n')
    write("other.toml", "[tool.devicelint]\n")
    write("a.py", "WRONG\n")
    assert run("a.py")[0] == 0
    assert run("a.py", "--config", "other.toml")[0] == 1


def test_unsafe_fixes_of_the_configuration_count_as_fixable(run):
    write("pyproject.toml", "[tool.devicelint]\nunsafe-fixes = true\n")
    write("a.py", "RISKY\n")
    assert run("a.py")[2] == "Found 1 warning; 1 fixable with --fix\n"
    assert run("a.py", "--fix")[0] == 0
    assert Path("a.py").read_text(encoding="utf-8") == "right\n"


# Fixing


def test_fix_writes_the_safe_ones_and_reports_the_rest(run):
    path = write("a.py", "WRONG\r\nRISKY\n")
    path.chmod(0o750)
    status, out, error = run("a.py", "--fix")
    assert status == 1
    assert path.read_bytes() == b"right\r\nRISKY\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert "DEV104" not in out
    assert "DEV401" in out
    assert error == (
        "a.py:1:1: fixed DEV104: fix it\n"
        "a.py:2:1: not fixed DEV401: its fix is unsafe: apply it with --unsafe-fixes (fix it)\n"
        "Fixed 1 finding in 1 file\nFound 1 warning; 1 fixable with --unsafe-fixes\n"
    )


def test_fix_says_nothing_of_its_fixes_when_quiet(run):
    write("a.py", "WRONG\nSTUCK\n")
    assert run("a.py", "--fix", "-q")[2] == ""


def test_what_has_no_fix_is_listed_and_what_was_asked_for_is_not(run):
    write("a.py", "STUCK\nASKED\n")
    error = run("a.py", "--fix")[2]
    assert "a.py:1:1: not fixed DEV401: no fix is known\n" in error
    assert "DEV000" not in error


def test_unsafe_fixes_are_written_when_asked_for(run):
    path = write("a.py", "WRONG RISKY\n")
    assert run("--fix", "--unsafe-fixes", ".", "-q") == (0, "", "")
    assert path.read_bytes() == b"right right\n"


def test_unsafe_fixes_alone_write_nothing(run):
    path = write("a.py", "RISKY\n")
    status, _, error = run("--unsafe-fixes", "a.py")
    assert status == 1
    assert "--unsafe-fixes changes nothing without --fix or --diff\n" in error
    assert path.read_bytes() == b"RISKY\n"


def test_a_fix_that_was_rolled_back_is_listed(run):
    write("a.py", "ROLLED BACK\nRISKY\n")
    for option in ("--fix", "--diff"):
        error = run("a.py", option)[2]
        assert "a.py:2:1: not fixed DEV401: it would introduce DEV101 on line 7\n" in error


def test_a_file_that_needs_no_fix_is_not_touched(run):
    path = write("a.py", "fine\n")
    path.chmod(0o444)
    assert run("a.py", "--fix")[0] == 0


def test_a_read_only_file_is_an_error_of_that_file_alone(run):
    path = write("a.py", "WRONG\n")
    write("b.py", "WRONG\n")
    path.chmod(0o444)
    status, _, error = run("--fix", ".")
    assert status == 2
    assert error == (
        "a.py:1:1: is read-only\nb.py:1:1: fixed DEV104: fix it\nFixed 1 finding in 1 file\n"
    )
    assert path.read_bytes() == b"WRONG\n"


def test_diff_prints_a_patch_and_writes_nothing(run):
    path = write("a.py", "WRONG\nRISKY\n")
    status, out, error = run("a.py", "--diff", "--fix")
    assert status == 1
    assert out == "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-WRONG\n+right\n RISKY\n"
    assert error == "Would fix 1 finding in 1 file\n"
    assert path.read_bytes() == b"WRONG\nRISKY\n"
    assert "+right\n+right\n" in run("a.py", "--diff", "--unsafe-fixes")[1]
    assert run("a.py", "--diff", "--exit-zero")[0] == 0


def test_diff_of_nothing_is_status_0(run):
    write("a.py", "RISKY\n")
    assert run("a.py", "--diff") == (0, "", "Would fix nothing\n")


# Standard input


def test_stdin_is_called_as_asked(run, stdin):
    stdin(b"WRONG\n")
    assert run("-", "--output-format", "concise")[1] == "-:1:1: DEV104 WRONG here\n"
    stdin(b"WRONG\n")
    named = run("-", "--stdin-filename", "a/b.py", "--output-format", "concise")[1]
    assert named == "a/b.py:1:1: DEV104 WRONG here\n"


def test_the_name_of_stdin_decides_on_its_configuration(run, stdin):
    write("a/pyproject.toml", '[tool.devicelint]\nignore = ["DEV104"]\n')
    stdin(b"WRONG\n")
    assert run("-", "--stdin-filename", "a/b.py")[0] == 0


def test_fixed_stdin_goes_to_stdout_and_what_is_left_to_stderr(run, stdin):
    stdin(b"\xef\xbb\xbfWRONG\r\nSTUCK")
    status, out, error = run("--fix", "-")
    assert status == 1
    assert out == "\ufeffright\r\nSTUCK"
    assert "DEV401" in error
    assert error.endswith("Fixed 1 finding in 1 file\nFound 1 warning\n")


@pytest.mark.parametrize("text", [b"BROKEN\n", b"CRASH\n", b"# coding: utf-8\n'\xff'\n"])
def test_stdin_that_cannot_be_checked_comes_back_as_it_was(toy, capfdbinary, stdin, text):
    stdin(text)
    assert main(["--fix", "-"]) == 2
    assert capfdbinary.readouterr().out == text


def test_diff_of_stdin(run, stdin):
    stdin(b"WRONG\n")
    status, out, _ = run("--diff", "-", "--stdin-filename", "x.py")
    assert (status, out.splitlines()[:2]) == (1, ["--- a/x.py", "+++ b/x.py"])


# Problems


def test_what_cannot_be_checked_is_told_and_the_rest_is_checked(run):
    write("a.py", "BROKEN\n")
    write("b.py", "CRASH\n")
    write("c.py", "WRONG\n")
    status, out, error = run(".", "missing.py", "--output-format", "concise", "--exit-zero")
    assert status == 2
    assert out == "c.py:1:1: DEV104 WRONG here\n"
    first, second, third, last = error.splitlines()
    assert first == "a.py:3:5: invalid syntax"
    assert re.fullmatch(
        r"b\.py:1:1: DEV900 internal-error: KeyError: 'x' at .*\.py:\d+ \(please report it\)",
        second,
    )
    assert third == "missing.py:1:1: no such file or directory"
    assert last == "Found 1 error; 1 fixable with --fix"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--fxi", "a.py"], 'there is no option "--fxi"; did you mean "--fix"?'),
        (["a.py", "--selct=DEV1"], 'there is no option "--selct"; did you mean "--select"?'),
        (["a.py", "--zzzzzz"], 'there is no option "--zzzzzz"'),
        (["--sel", "DEV1", "a.py"], 'there is no option "--sel"; did you mean "--select"?'),
        (["a.py", "--select"], "argument --select: expected one argument"),
        (["a.py", "-q", "-v"], "argument -v/--verbose: not allowed with argument -q/--quiet"),
        (
            ["a.py", "--select", "DEV1O4"],
            '--select: no rule is called "DEV1O4"; did you mean "DEV104"?',
        ),
        (
            ["a.py", "--ignore", "discarded-moves"],
            '--ignore: no rule is called "discarded-moves"; did you mean "discarded-move"?',
        ),
        (
            ["explain", "dev1o4"],
            'there is no rule "dev1o4"; did you mean "DEV104"?',
        ),
        (["-", "a.py"], "- (standard input) cannot be checked together with other paths"),
        (
            ["a.py", "--stdin-filename", "b.py"],
            "--stdin-filename names what - reads: give - as the only path",
        ),
        (
            ["a.py", "--extend-select", "DEV1O4"],
            '--extend-select: no rule is called "DEV1O4"; did you mean "DEV104"?',
        ),
        (
            ["a.py", "--torch-version", "two"],
            'argument --torch-version: "two" is not a release of torch: write it like "2.6"',
        ),
        (["explain"], "the following arguments are required: RULE"),
        (["rules", "--zzzz"], 'there is no option "--zzzz"'),
        (["trace"], "the following arguments are required: FILE"),
    ],
)
def test_wrong_usage_is_one_line(run, words, line):
    write("a.py", "fine\n")
    assert run(*words) == (2, "", f"devicelint: {line}\n")


def test_an_unknown_format_is_one_line_with_the_known_ones(run):
    status, out, error = run("a.py", "--output-format", "xml")
    assert (status, out, error.count("\n")) == (2, "", 1)
    assert "invalid choice: 'xml'" in error
    assert "concise" in error


def test_a_misspelt_command_is_answered(run):
    assert run("expalin")[2] == (
        'expalin:1:1: no such file or directory; did you mean the command "explain"?\n'
    )
    assert 'the command "rules" goes before all options' in run("-q", "rules")[2]


def test_a_broken_configuration_is_told_once(run):
    write("bad/pyproject.toml", "[tool.devicelint]\nselct = []\n")
    for name in ("bad/a.py", "bad/b.py", "c.py"):
        write(name, "WRONG\n")
    status, out, error = run("bad", ".", "-q", "--output-format", "concise")
    assert status == 2
    assert out == "c.py:1:1: DEV104 WRONG here\n"
    assert error.count("\n") == 1
    assert 'pyproject.toml:2:1: unknown key "selct" in [tool.devicelint]; did you mean' in error


def test_a_missing_configuration_is_one_line(run):
    write("a.py", "WRONG\n")
    status, out, error = run("a.py", "--config", "none.toml")
    assert (status, out, error.count("\n")) == (2, "", 1)
    assert error == "devicelint: --config none.toml: there is no such file\n"


def test_an_interrupt_is_130(run, monkeypatch):
    def interrupted(source, config, project):
        raise KeyboardInterrupt

    monkeypatch.setattr(lint, "check", interrupted)
    write("a.py", "")
    assert run("a.py") == (130, "", "devicelint: interrupted\n")


def test_an_error_of_the_front_end_itself_is_one_line(run, monkeypatch):
    monkeypatch.setattr("devicelint.cli.commands.check.RunSettings", lambda options: 1 // 0)
    status, out, error = run("a.py")
    assert (status, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("devicelint: DEV900 internal-error: ZeroDivisionError: ")


# The other commands


def test_version(run):
    assert run("--version") == (0, f"devicelint {version('devicelint')}\n", "")


@pytest.mark.parametrize("command", ["check", "explain", "rules", "trace"])
def test_help_shows_what_to_type(run, command):
    status, out, _ = run(command, "--help")
    assert status == 0
    assert out.startswith(f"usage: devicelint {command}")
    assert max(map(len, out.splitlines())) <= 100


def test_the_overview_names_the_commands_and_the_options(run):
    status, out, _ = run("--help")
    assert status == 0
    assert "devicelint explain DEV101" in out
    assert "--unsafe-fixes" in out


def test_rules_are_listed_by_code(run):
    status, out, _ = run("rules")
    assert status == 0
    codes = [line.split()[0] for line in out.splitlines()]
    assert codes == sorted(codes)
    assert re.search(r"^DEV104 +error +discarded-move +\S", out, re.MULTILINE)
    assert re.search(r"^DEV601 +note +create-then-move +.* \(off by default\)$", out, re.MULTILINE)
    assert out.count("(off by default)") < len(codes) / 2


@pytest.mark.parametrize("rule", ["DEV104", "dev104", "discarded-move"])
def test_explain_prints_the_page(run, rule):
    status, out, _ = run("explain", rule)
    assert status == 0
    assert "discarded-move" in out


def test_explain_prints_no_markup_of_the_tests(run, monkeypatch):
    out = run("explain", "DEV106")[1]
    assert "```python\nimport torch\n" in out
    assert "[1.0, 2.0, 3.0, 4.0])  # unregistered-tensor\n" in out
    for markup in ("```py run", "```diff safe", "# error: ", "# raises"):
        assert markup not in out
    assert "is reported as unregistered-tensor, because" in run("explain", "DEV103")[1]


def test_explain_in_colour_reads_the_same(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = run("explain", "DEV104")[1]
    assert "\x1b[" in out
    for markup in ("```", "# error: ", "# raises", ".md"):
        assert markup not in out


def test_trace_shows_devices_in_the_margin(run, monkeypatch):
    lines = ((1, ("x: cpu",)), (3, ("x: cpu -> cuda:0", "y: args.device")))
    monkeypatch.setattr(show, "trace", lambda source, project, config: Trace(lines))
    write("a.py", "x = 1\n\nx, y = x.to(1), f(y)\n")
    assert run("trace", "a.py")[1] == (
        "1  x = 1                 | x: cpu\n"
        "2\n"
        "3  x, y = x.to(1), f(y)  | x: cpu -> cuda:0, y: args.device\n"
    )
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "x: \x1b[33mcpu\x1b[0m -> \x1b[32mcuda:0\x1b[0m" in run("trace", "a.py")[1]


def test_trace_of_a_missing_file_is_one_line(run):
    assert run("trace", "a.py") == (2, "", "a.py:1:1: no such file or directory\n")


# Colour and encoding


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "on_a_terminal", "piped"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_colour(environment, on_a_terminal, piped):
    from devicelint.cli.terminal import paint_for
    from devicelint.output.paint import coloured

    assert (paint_for(Terminal(), environment) is coloured) is on_a_terminal
    assert (paint_for(io.StringIO(), environment) is coloured) is piped


def devicelint(*words: str, **options) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **options.pop("environment", {})}
    command = [sys.executable, "-m", "devicelint", *words]
    return subprocess.run(
        command, capture_output=True, check=False, env=environment, timeout=60, **options
    )


def test_a_terminal_that_cannot_show_a_character_does_not_fail():
    write("größe.py", 'import torch\nd = torch.device("cuda: 0")  # 日本語\n')
    run = devicelint("größe.py", environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert b"DEV406" in run.stdout
    assert b"\\u65e5" in run.stdout
    assert b"Traceback" not in run.stderr


def test_nobody_reads():
    for number in range(40):
        write(f"{number}.py", 'import torch\nd = torch.device("cuda: 0")\n' * 50)
    with subprocess.Popen(
        [sys.executable, "-m", "devicelint", "."],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_nothing_heavy_is_imported_before_it_is_needed():
    write("a.py", "import torch\nx = torch.zeros(3)\n")
    code = (
        "import sys; from devicelint.cli import main; status = main(['a.py', '-q']);"
        "heavy = {'rich', 'tomllib', 'tomli', 'difflib', 'multiprocessing', 'torch',"
        " 'markdown_it', 'pygments', 'tempfile', 'asyncio', 'unittest'};"
        "print(status, sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout == "0 []\n"


def test_a_comment_that_names_no_rule_is_told(run, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import torch\nx = 1  # devicelint: ignore[DEV999] why\n", encoding="utf-8")
    status, _, err = run(str(script))
    assert status == 0
    assert f"{script}:2:29: " in err
    assert "DEV999" in err


@pytest.mark.parametrize("command", ["", "check", "adopt", "explain", "rules", "trace", "why"])
def test_help_fits_80_columns(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*command.split(), "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
