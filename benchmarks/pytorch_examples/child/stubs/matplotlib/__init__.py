"""Stands in for matplotlib: nothing is drawn."""


def use(_backend: str) -> None:
    """Take any backend."""
