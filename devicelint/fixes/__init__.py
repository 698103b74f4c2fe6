"""Fixes: changes at nodes of a tree, made on the text, so that all else stays byte for byte."""

from devicelint.fixes.bundle import Joined, JoinedFiles
from devicelint.fixes.calls import AddKeyword, RemoveArgument
from devicelint.fixes.change import Change, Rewrite
from devicelint.fixes.expressions import InsertAfter, InsertBefore, Keep, Replace, WrapInCall
from devicelint.fixes.folding import DefineBeside, KeepBranch, MoveTo, Unwrap
from devicelint.fixes.layout import NotFixable
from devicelint.fixes.parameters import AddParameter
from devicelint.fixes.preamble import DefineDevice, asks_for, choice_of
from devicelint.fixes.resolution import resolve, sites
from devicelint.fixes.rounds import MAX_ROUNDS, Approval, Fixed, fix_until_stable
from devicelint.fixes.selection import edits_of, select
from devicelint.fixes.statements import GuardStatement, InsertStatement, RemoveStatement
from devicelint.fixes.states import wording
from devicelint.text.edits import apply

__all__ = [
    "MAX_ROUNDS",
    "AddKeyword",
    "AddParameter",
    "Approval",
    "Change",
    "DefineBeside",
    "DefineDevice",
    "Fixed",
    "GuardStatement",
    "InsertAfter",
    "InsertBefore",
    "InsertStatement",
    "Joined",
    "JoinedFiles",
    "Keep",
    "KeepBranch",
    "MoveTo",
    "NotFixable",
    "RemoveArgument",
    "RemoveStatement",
    "Replace",
    "Rewrite",
    "Unwrap",
    "WrapInCall",
    "apply",
    "asks_for",
    "choice_of",
    "edits_of",
    "fix_until_stable",
    "resolve",
    "select",
    "sites",
    "wording",
]
