"""Files that hold Python among other things: notebooks and Markdown."""

from __future__ import annotations

from devicelint.text.documents.document import Document, Unwritable

__all__ = ["Document", "Unwritable", "is_document", "read_document"]

_NOTEBOOKS = (".ipynb",)
_MARKDOWN = (".md", ".markdown")


def is_document(path: str) -> bool:
    """Whether a file of this name holds more than Python."""
    return path.lower().endswith((*_NOTEBOOKS, *_MARKDOWN))


def read_document(text: str, path: str) -> Document:
    """What the file `path` holds; raises InputError where it is not what its name says."""
    if path.lower().endswith(_NOTEBOOKS):
        from devicelint.text.documents.notebook import read_notebook

        return read_notebook(text, path)
    from devicelint.text.documents.markdown import read_markdown

    return read_markdown(text, path)
