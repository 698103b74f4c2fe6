"""Whether what a condition guards may be said again where it does not."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from devicelint.domain.history import Site
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.interpreter.suggestions.walk_notes import ConditionalMoves


def is_guarded(run: Run, move: Site, place: Site) -> bool:
    """Whether a condition guards a move that does not guard a place.

    What comes later in the block of the move is under the same condition, and so are other
    methods of a class, where the condition is that of who calls them.
    """
    assert isinstance(move, cst.CSTNode)
    around, conditional = reads_of(run.module).around, run.hearer(ConditionalMoves)
    inner: cst.CSTNode = move
    asked = False
    while (outer := around.get(inner)) is not None:
        if isinstance(outer, cst.IfExp) and inner is not outer.test:
            return True
        if isinstance(outer, cst.IndentedBlock):
            later = outer.body[outer.body.index(inner) :]
            if any(place is one for part in later for one in descendants(part)):
                return asked
        if isinstance(outer, cst.FunctionDef):
            break
        asked = asked or (isinstance(outer, cst.If) and not _asks_for_name(outer.test))
        inner = outer
    if move not in conditional.moves:
        return asked
    method = None if outer is None or move in conditional.here else around.get(outer)
    return method is None or not _is_in_class(method, around, place)


def _asks_for_name(test: cst.BaseExpression) -> bool:
    """`if __name__ == "__main__"`, which asks how the program was started."""
    return any(isinstance(one, cst.Name) and one.value == "__name__" for one in descendants(test))


def _is_in_class(body: cst.CSTNode, around: Mapping[cst.CSTNode, cst.CSTNode], place: Site) -> bool:
    """Whether a block is the body of a class in which a place stands."""
    return isinstance(around.get(body), cst.ClassDef) and any(
        place is one for one in descendants(body)
    )
