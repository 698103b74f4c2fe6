"""Stands in for unidecode."""


def unidecode(text: str) -> str:
    """Leave out what is not ASCII."""
    return text.encode("ascii", "ignore").decode()
