"""Walks through a libcst tree, asks knowledge, and announces events."""

from devicelint.interpreter.program import Program
from devicelint.interpreter.session import Walk, explore

__all__ = ["Program", "Walk", "explore"]
