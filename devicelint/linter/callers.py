"""What the other files of a project say of a clash with something that callers give."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import libcst as cst

from devicelint.domain.calls import Called, Given, said_by
from devicelint.domain.history import Site
from devicelint.domain.standing import Conduct, Entry, Level, Standing
from devicelint.finding import Certainty
from devicelint.interpreter import Program
from devicelint.interpreter.callers import Signature, signature_of
from devicelint.interpreter.engine.nodes import parameters_of
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.linter.readers import Readers
from devicelint.rules import Report, line_of
from devicelint.text.source import SourceFile
from devicelint.workspace import users
from devicelint.workspace.offers import is_offered
from devicelint.workspace.project import Project, home_of

_GIVES = {
    Given.ACCELERATOR: "a value that is or may be on an accelerator",
    Given.CHOSEN: "a value that is or may be on an accelerator",
    Given.INPUT: "an input of a module",
}

_BY_CONTRACT = (Level.MODULE, Level.OWN_RULE)
"""What the code itself says of its callers, wherever they are."""


class Callers:
    """Who calls the functions of a file, and with what; each is asked for once."""

    def __init__(
        self, project: Project | None, home: str, notebook: cst.Module | None = None
    ) -> None:
        """Know nothing yet; `notebook` is the file where it is one, which nothing imports."""
        self._project = project
        self._home = home
        self.readers = Readers(project, home, notebook)
        """Who reads and writes the checkpoints of the file."""
        self._known: dict[tuple[Signature, str], Called] = {}
        self._offered: dict[Signature, bool] = {}

    @classmethod
    def of(cls, source: SourceFile, program: Program, project: Project | None) -> Callers:
        """The callers of a file of a project; of a notebook, its own cells."""
        return cls(project, home_of(source), None if source.cells() is None else program.tree)

    def say_of(self, standing: Standing) -> Called:
        """What the calls of those say that received what clashes.

        Where the code goes to an accelerator itself, a call with one agrees with it.
        """
        said = [self._called(*received) for received in _received(standing)]
        shown = (one.chosen if standing.goes else one.shows for one in said)
        shows = next((one for one in shown if one is not None), None)
        is_on_host = any(one.is_on_host for one in said) or self._name_the_cpu(standing)
        return Called(shows, is_on_host=is_on_host)

    def _name_the_cpu(self, standing: Standing) -> bool:
        """Whether a device is a parameter, for which every call of the project gives the CPU."""
        if standing.level is not Level.CERTAIN or self._project is None:
            return False
        return any(
            self._called(_signature_of(one), one.parameter).is_on_host
            for one in standing.entries
            if not self._is_offered(_offer_of(one))
        )

    def tell(self, standing: Standing, conduct: Conduct) -> bool:
        """Whether somebody is seen to tell a constructor the device that it takes.

        Whoever calls a constructor that hands the device on tells this one. A file that lies
        alone is taken at its word.
        """
        told = [one for one in standing.symbols if isinstance(one, cst.Param)]
        is_of_parts = standing.level is Level.CERTAIN and bool(told)
        if not is_of_parts or self._project is None or self._project.is_alone(self._home):
            return True
        givers = conduct.givers(told)
        return None in givers or any(map(self._is_shown, _of_constructors(self._tree(), givers)))

    def _is_shown(self, received: tuple[Signature, str]) -> bool:
        return self._called(*received).shows is not None

    def _tree(self) -> cst.Module | None:
        program = None if self._project is None else self._project.program(self._home)
        return None if program is None else program.tree

    def level_of(self, standing: Standing, conduct: Conduct) -> Level:
        """How sure a clash is, with what is known of those who call.

        Of a function in a project, its callers say more than what it provides for does, unless
        the project offers it to others.
        """
        level = standing.given(conduct)
        if level in _BY_CONTRACT and self._is_nobodys(standing):
            return Level.POSSIBLE
        is_said = standing.is_said_of_callers(conduct)
        is_said = is_said or (standing.goes and level is Level.OWN_RULE)
        if is_said and not self._are_all_seen(standing):
            return level
        if is_said or level is Level.POSSIBLE:
            if self.say_of(standing).shows is not None:
                return Level.CALLED
            return Level.OPEN if self._may_be_anybody(standing, conduct) else Level.POSSIBLE
        return level

    def _is_nobodys(self, standing: Standing) -> bool:
        """Whether a clash takes a caller that the project has not, and offers itself to nobody."""
        project, home, entries = self._project, self._home, standing.entries
        if (
            project is None
            or not entries
            or project.is_alone(home)
            or not users.is_whole(project, home)
        ):
            return False
        return all(map(self._is_entered_by_none, entries))

    def _is_entered_by_none(self, entry: Entry) -> bool:
        """Whether nothing uses what a caller would, or no call gives it what may be elsewhere."""
        offered = _offer_of(entry)
        if self._is_offered(offered):
            return False
        if not self._is_used(offered[0].partition(".")[0]):
            return True
        if not entry.parameter:
            return False
        return self._called(_signature_of(entry), entry.parameter).shows is None

    def _is_used(self, name: str) -> bool:
        """Whether the file itself, or another one that is no test, reads what it defines."""
        tree = self._tree()
        if tree is None or self._project is None:
            return True
        if not (_is_program(tree) or users.is_led_to(self._project, self._home)):
            return False
        reads = reads_of(tree)
        is_read_here = bool(reads.names[name] or reads.attributes[name])
        return is_read_here or users.is_mentioned(self._project, self._home, name)

    def _may_be_anybody(self, standing: Standing, conduct: Conduct) -> bool:
        """Whether a tensor is asked of callers, and the file belongs to no project or program."""
        return self._project is not None and (
            standing.may_be_open(conduct) and self._project.is_apart(self._home)
        )

    def _are_all_seen(self, standing: Standing) -> bool:
        """Whether those who call the functions of a standing are in the project."""
        if self._project is None or self._project.is_alone(self._home):
            return False
        functions = {one for one, _ in _received(standing)}
        return not any(self._is_offered(function) for function in functions)

    def _is_offered(self, function: Signature) -> bool:
        if function not in self._offered:
            assert self._project is not None
            self._offered[function] = is_offered(self._project, self._home, function)
        return self._offered[function]

    def _called(self, function: Signature, parameter: str) -> Called:
        key = (function, parameter)
        if key not in self._known:
            self._known[key] = self._asked(function, parameter)
        return self._known[key]

    def _asked(self, function: Signature, parameter: str) -> Called:
        if self._project is None:
            return Called()
        given = self._project.calls_of(self._home, function)
        return said_by(call for one in given for call in one.get(parameter, ()))


def _signature_of(entry: Entry) -> Signature:
    """By what a function is known to those who call it; a constructor goes by its class."""
    signature = _offer_of(entry)
    _, _, name = signature[0].rpartition(".")
    return signature if name == "__init__" else (name, signature[1])


def _offer_of(entry: Entry) -> Signature:
    """A function, or a method with its class, as a package would offer it."""
    function = entry.function
    assert isinstance(function, cst.FunctionDef)
    signature = signature_of(function, _name_of(entry.cls))
    assert signature is not None
    return signature


def _name_of(cls: Site) -> str:
    return cls.name.value if isinstance(cls, cst.ClassDef) else ""


def _is_program(tree: cst.Module) -> bool:
    """Whether the statements of a file do something, rather than define what others use."""
    return any(map(_does_something, tree.body))


def _does_something(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(body):
            calls = (one for one in body if isinstance(one, cst.Expr))
            return any(isinstance(one.value, cst.Call) for one in calls)
        case cst.If(test=cst.Comparison(left=cst.Name("__name__"))):
            return True
        case _:
            return isinstance(statement, (cst.For, cst.While, cst.With))


def _received(standing: Standing) -> Iterator[tuple[Signature, str]]:
    """The parameters that clash, with the functions that have them."""
    functions = [one for one in standing.symbols if isinstance(one, cst.FunctionDef)]
    classes = [one for one in standing.symbols if isinstance(one, cst.ClassDef)]
    for parameter in standing.symbols:
        if isinstance(parameter, cst.Param):
            for node in functions:
                if parameter in parameters_of(node):
                    signature = signature_of(node, _constructed(node, classes))
                    assert signature is not None
                    yield signature, parameter.name.value


def _constructed(init: cst.FunctionDef, classes: Sequence[cst.ClassDef]) -> str:
    """The class of a constructor; nothing for another function."""
    if init.name.value != "__init__":
        return ""
    around = (one for one in classes if any(inner is init for inner in one.body.body))
    return next((one.name.value for one in around), "")


def _of_constructors(
    tree: cst.Module | None, parameters: Collection[Site]
) -> Iterator[tuple[Signature, str]]:
    """The parameters of the constructors of a file that are among some, by which they are known."""
    classes = tree.body if tree is not None else ()
    for cls in (one for one in classes if isinstance(one, cst.ClassDef)):
        for one in cls.body.body:
            if isinstance(one, cst.FunctionDef) and one.name.value == "__init__":
                signature = signature_of(one, cls.name.value)
                assert signature is not None
                named = (parameter for parameter in parameters_of(one) if parameter in parameters)
                yield from ((signature, parameter.name.value) for parameter in named)


def cited(report: Report, called: Called) -> Report:
    """A report that says which call makes it true."""
    call = called.shows
    assert call is not None
    gives = _GIVES[call.given]
    certain = call.given in (Given.ACCELERATOR, Given.CHOSEN)
    return replace(
        report,
        message=f"{report.message}; the call on line {line_of(len(report.related))} passes {gives}",
        related=(*report.related, (call.site, f"this call passes {gives}")),
        certainty=Certainty.CERTAIN if certain else Certainty.CONTRACT,
    )
