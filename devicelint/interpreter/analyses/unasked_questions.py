"""Functions that ask for an accelerator, taken for conditions without being called."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import QuestionNotAsked
from devicelint.domain.values import ImportedName, Value
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.facts.item_paths import root_of


@analysis
class UnaskedQuestions(Analysis):
    """Notes `torch.cuda.is_available` as a condition: a function is always true."""

    serves = frozenset({QuestionNotAsked})

    def on_tested(self, node: cst.BaseExpression, value: Value) -> None:
        """The function itself is written there; a variable may hold it, or nothing."""
        if not isinstance(value, ImportedName) or not isinstance(node, cst.Attribute):
            return
        if not (value.name.startswith("torch.") and value.name.endswith(_QUESTIONS)):
            return
        root = self.run.lookup(root_of(self.run.code_of(node)))
        if isinstance(root, ImportedName):
            self.run.announce(QuestionNotAsked(node, value.name))


_QUESTIONS = (".is_available", ".is_built", ".is_initialized")
