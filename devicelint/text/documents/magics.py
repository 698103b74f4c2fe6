"""What IPython understands beyond Python: magics, shell commands, questions.

Each is masked: replaced by Python of the same length that says nothing about devices, so that a
place in the one text is the same place in the other.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field

from devicelint.text.comments import end_of_logical_line

RUN_HERE = frozenset(
    "capture debug memit prun pyinstrument scalene snakeviz time timeit wandb".split()
)
"""Cell magics whose cell runs in the namespace of the notebook."""

TIMED = "timeit"
"""Runs its code in a function: what is assigned there is not seen outside, and a new assignment
hides the name that was meant."""

FOREIGN = frozenset(
    """
    ! bash bigquery cmd cython file fs html javascript js julia latex markdown md perl pypy python
    python2 python3 r ruby scala script sh sql svg system sx writefile writetemplate
    """.split()
)
"""Magics that hand a cell to somebody else than this kernel, in lower case."""

_CELL_MAGIC = re.compile(r"\s*%%(?P<name>!|\w+)[^\r\n]*")
_LANGUAGE = re.compile(r"\s*%(?P<name>\w+)[ \t]*(?:[\r\n]|$)")
_LINE_END = re.compile(r"\r\n|\r|\n")

_TIME = re.compile(r"[ \t]*(?P<magic>%time[ \t]+)(?=\S)")
_TIMEIT = re.compile(
    r"[ \t]*(?P<magic>%timeit[ \t]+(?:-[nrp][ \t]*\d+[ \t]+|-[tcqov]+[ \t]+)*)(?P<timed>\S.*)"
)
_COMMAND = re.compile(
    r"""
    [ \t]* (?P<magic>
        [%!?,;/] .*
      | %{0,2} (?!\d) [\w*]+ (?: \.\w+ | \[-?\d+\] )* \?\?? [ \t]*
      | (?: cd|conda|cp|load_ext|ls|mamba|man|matplotlib|mkdir|mv|pip3?|rm )
        [ \t]+ (?! [-+*/%@&|^<>=!]?= | [.,(\[:] ) .*
    ) $
    """,
    re.VERBOSE,
)
_TARGETS = r"(?P<targets>[ \t]*[\w.,\[\]*()'\"][\w.,\[\]*()'\" \t]*=)[ \t]*"
_TIME_ASSIGNED = re.compile(_TARGETS + r"(?P<magic>%time[ \t]+)(?=\S)")
_COMMAND_ASSIGNED = re.compile(_TARGETS + r"(?P<magic>[%!].+)$")
_UNKNOWN = "_"
"""A name of nothing but these is bound by nobody."""


@dataclass(frozen=True)
class Reading:
    """One cell as Python."""

    code: str
    """As long as the cell; meaningless where there is an error."""
    kept: tuple[str, ...] = ()
    """What is masked, and no edit may change."""
    error: tuple[int, int, str] | None = None
    """The line, the column and what is wrong, where a cell is no Python."""
    is_timed: bool = False
    """Whether it runs in a function of its own."""
    head: str = ""
    """What has to stand on the line before it."""


@dataclass
class _Masking:
    text: str
    pieces: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    at: int = 0

    def copy(self, end: int) -> None:
        self.pieces.append(self.text[self.at : end])
        self.at = end

    def put(self, end: int, code: str) -> None:
        """Write `code` for what is there up to `end`, and blanks for what is longer."""
        hidden = self.text[self.at : end]
        self.kept.append(hidden)
        blank = re.sub(r"[^\r\n]", " ", hidden)
        self.pieces.append(code + blank[len(code) :])
        self.at = end


def is_foreign(text: str) -> bool:
    """Whether a cell is in another language, or runs elsewhere, as its first line says."""
    magic = _CELL_MAGIC.match(text)
    if magic is None:
        magic = _LANGUAGE.match(text)
        return magic is not None and magic["name"].lower() in FOREIGN - {"time"}
    return magic["name"].lower() in FOREIGN


def is_of_unknown_kind(text: str) -> bool:
    """Whether a cell is under a magic that is not known here."""
    magic = _CELL_MAGIC.match(text)
    return magic is not None and magic["name"].lower() not in RUN_HERE | FOREIGN


def read_cell(text: str) -> Reading:
    """A cell with everything masked that Python would not understand."""
    magic = _CELL_MAGIC.match(text)
    if magic is None and complaint(text) is None:
        return Reading(text)
    masking = _Masking(text)
    if magic is not None:
        start = magic.start("name") - 2
        masking.copy(start)
        masking.put(magic.end(), "0")
    _mask_lines(masking)
    code = "".join(masking.pieces)
    is_timed = magic is not None and magic["name"] == TIMED
    return Reading(code, tuple(masking.kept), complaint(code), is_timed)


def _mask_lines(masking: _Masking) -> None:
    text = masking.text
    while masking.at < len(text):
        first = _LINE_END.search(text, masking.at)
        line = text[masking.at : first.start() if first else len(text)]
        if not _mask_line(masking, line):
            masking.copy(end_of_logical_line(text, masking.at))
        elif (rest := _LINE_END.match(text, masking.at)) is not None:
            masking.copy(rest.end())


def _mask_line(masking: _Masking, line: str) -> bool:
    """Mask what IPython would take from a line; false where it is Python."""
    return any(mask(masking, line) for mask in (_time, _timeit, _command, _assignment))


def _time(masking: _Masking, line: str) -> bool:
    """`%time` before a statement; what is assigned there is seen outside."""
    match = _TIME.match(line)
    if match is None or complaint(f"if 1: {line[match.end() :]}") is not None:
        return False
    start = masking.at
    masking.copy(start + match.start("magic"))
    masking.put(start + match.end(), "if 1:")
    masking.copy(start + len(line))
    return True


def _timeit(masking: _Masking, line: str) -> bool:
    """`%timeit` before an expression, which stays as it is."""
    match = _TIMEIT.match(line)
    if match is None or complaint(f"({match['timed']})") is not None:
        return False
    start = masking.at
    masking.copy(start + match.start("magic"))
    masking.put(start + len(line), "if 1:".ljust(len(match["magic"])) + match["timed"])
    return True


def _command(masking: _Masking, line: str) -> bool:
    match = _COMMAND.match(line)
    if match is None:
        return False
    end = _end_of_command(masking.text, masking.at)
    masking.copy(masking.at + match.start("magic"))
    masking.put(end, "0")
    return True


def _assignment(masking: _Masking, line: str) -> bool:
    """`x = %time f()` is what f() gives; `x = !ls` is not known."""
    match = _TIME_ASSIGNED.match(line) or _COMMAND_ASSIGNED.match(line)
    if match is None or complaint(f"{match['targets'].strip()} 0") is not None:
        return False
    start = masking.at
    is_code = match.re is _TIME_ASSIGNED
    end = start + match.end() if is_code else _end_of_command(masking.text, start)
    masking.copy(start + match.start("magic"))
    masking.put(end, "" if is_code else _UNKNOWN * len(match["magic"]))
    masking.copy(start + len(line) if is_code else end)
    return True


def _end_of_command(text: str, start: int) -> int:
    """The end of the line of a command, which goes on after a backslash."""
    end = start
    while True:
        line_end = _LINE_END.search(text, end)
        if line_end is None:
            return len(text)
        if text[line_end.start() - 1 : line_end.start()] != "\\":
            return line_end.start()
        end = line_end.end()


def complaint(code: str) -> tuple[int, int, str] | None:
    """The line, the column and what Python has to say there; None where a cell would run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # All of the way: a `return` outside of a function is no syntax error to the parser.
            compile(code, "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 1, max((error.offset or 1) - 1, 0), f"syntax error: {error.msg}"
    except (MemoryError, RecursionError, OverflowError):
        return 1, 0, "is nested too deeply to be checked"
    except ValueError as error:
        return 1, 0, f"syntax error: {error}"
    return None
