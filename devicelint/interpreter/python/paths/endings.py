"""Calls that do not return: the path ends where they are reached."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import Class, ImportedName, Instance, Symbolic, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.name_uses import last_name

ARGUMENT_PARSER = Symbolic("parser")
"""What `argparse.ArgumentParser()` is."""
_OF_PARSERS = frozenset({"error", "exit"})
_OF_TESTS = frozenset({"fail", "skipTest"})
_TEST_CASES = ("unittest.TestCase", "unittest.IsolatedAsyncioTestCase", "unittest.case.TestCase")
_RAISES = frozenset({"assertRaises", "assertRaisesRegex"})
_NEVER = frozenset({"NoReturn", "Never"})


ENDING = (
    *("sys.exit builtins.exit builtins.quit os._exit os.abort".split()),
    *("pytest.skip pytest.fail pytest.exit pytest.xfail".split()),
)
"""Functions that never return."""


@function(*ENDING)
def leave(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    run.state.dead = True
    return Unknown("does not return")


def is_ending(run: Run, receiver: Value, name: str) -> bool:
    """Whether a method never returns: `parser.error()`, `self.fail()` of a test case."""
    if name in _OF_PARSERS:
        return receiver == ARGUMENT_PARSER
    if name in _OF_TESTS and isinstance(receiver, Instance):
        return is_test_case(run.state.read(receiver.ref, CLASS_FIELD))
    return False


def is_meant_to_fail(run: Run, entered: cst.BaseExpression) -> bool:
    """Whether what `with` enters says that its block raises: `pytest.raises(ValueError)`."""
    if not isinstance(entered, cst.Call):
        return False
    match entered.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if name in _RAISES:
            receiver = run.evaluate(owner)
            if isinstance(receiver, Instance):
                return is_test_case(run.state.read(receiver.ref, CLASS_FIELD))
        case cst.Name() | cst.Attribute():
            return run.evaluate(entered.func) == ImportedName("pytest.raises")
        case _:
            pass
    return False


def is_test_case(cls: Value | None) -> bool:
    """Whether a class holds the tests of unittest."""
    if isinstance(cls, ImportedName):
        return cls.name in _TEST_CASES
    return isinstance(cls, Class) and any(map(is_test_case, cls.bases))


def says_it_never_returns(node: Site) -> bool:
    """Whether a function is declared as one that does not return."""
    returns = node.returns if isinstance(node, cst.FunctionDef) else None
    return returns is not None and last_name(returns.annotation) in _NEVER
