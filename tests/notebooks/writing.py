"""Notebooks as Jupyter writes them, and otherwise."""

import json


def code(text, joined=False, **members):
    cell = {
        "cell_type": "code",
        "execution_count": 3,
        "metadata": {},
        "outputs": [{"output_type": "stream", "name": "stdout", "text": ["é \\u00e9\n"]}],
        "source": text if joined else text.splitlines(keepends=True),
    }
    return {**cell, **members}


def markdown(source):
    return {"cell_type": "markdown", "metadata": {}, "source": [source]}


def notebook(*cells, **members):
    """The JSON of a notebook; cells are code where they are given as text."""
    listed = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    return {
        "cells": [{**cell, "id": f"cell-{index}"} for index, cell in enumerate(listed)],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
        **members,
    }


def written(document, **style):
    """A notebook as bytes, as Jupyter writes it where nothing else is said."""
    style = {"indent": 1, "ensure_ascii": False, **style}
    return (json.dumps(document, **style) + "\n").encode()


def sources(data):
    """What the cells of a notebook say, joined."""
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]
