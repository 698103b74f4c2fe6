"""Walks through a libcst tree, asks knowledge, and announces events."""

from devicelint.interpreter.session import Walk, explore

__all__ = ["Walk", "explore"]
