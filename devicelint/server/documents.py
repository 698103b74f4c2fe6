"""The texts that the editor holds, kept as it says: files, and the cells of notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from devicelint.server.lines import Lines
from devicelint.server.open_documents import OpenFile, OpenNotebook, Part
from devicelint.server.session import Session

_SHOWN_AS_WRITTEN = (".py", ".pyw", ".pyi", ".md", ".markdown")
_PASSED_OVER = ("git:", "gitfs:", "vscode-notebook-cell:", "output:", "debug:")
"""Old versions of files, and what is no file."""


@dataclass
class _Notebook:
    uri: str
    path: str
    cells: list[str | None] = field(default_factory=list)
    """The URIs of its cells, in their order; None for what is no code in Python."""


class Documents:
    """Turns what the editor says of its texts into open documents of the session."""

    def __init__(self, session: Session) -> None:
        """Nothing is open yet."""
        self.encoding = lsp.PositionEncodingKind.Utf16.value
        self._session = session
        self._parts: dict[str, Part] = {}
        self._paths: dict[str, str] = {}
        self._notebooks: dict[str, _Notebook] = {}
        self._owners: dict[str, str] = {}
        """The notebooks of cells."""

    def document_of(self, uri: str) -> str:
        """The URI of the document in which a file or cell stands."""
        return self._owners.get(uri, uri)

    def open(self, document: lsp.TextDocumentItem) -> str | None:
        """Open a file, and return its URI; None for what is not checked."""
        path = _path(document.uri)
        if document.uri.startswith(_PASSED_OVER):
            return None
        if document.language_id == "python" and path.lower().endswith(".ipynb"):
            path += ".py"  # Its code alone, as some editors send it.
        elif document.language_id != "python" and not path.lower().endswith(_SHOWN_AS_WRITTEN):
            return None
        self._paths[document.uri] = path
        self._put(document.uri, document.version, document.text)
        return document.uri

    def change(
        self,
        document: lsp.VersionedTextDocumentIdentifier,
        changes: Sequence[lsp.TextDocumentContentChangeEvent],
    ) -> str | None:
        """Change a file, and return its URI; None for what is not checked."""
        if document.uri not in self._paths:
            return None
        self._put(document.uri, document.version, self._changed(document.uri, changes))
        return document.uri

    def close(self, uri: str) -> bool:
        """Close a file, and say whether it was there."""
        if self._paths.pop(uri, None) is None:
            return False
        self._parts.pop(uri, None)
        self._session.remove(uri)
        return True

    def open_notebook(self, params: lsp.DidOpenNotebookDocumentParams) -> str:
        """Open a notebook, and return its URI."""
        document = params.notebook_document
        path = _path(document.uri)
        if not path.lower().endswith(".ipynb"):
            path += ".ipynb"
        notebook = _Notebook(document.uri, path)
        self._notebooks[document.uri] = notebook
        for cell in params.cell_text_documents:
            self._open_cell(notebook, cell)
        notebook.cells = [self._code(cell) for cell in document.cells]
        self._put_notebook(notebook)
        return document.uri

    def change_notebook(self, params: lsp.DidChangeNotebookDocumentParams) -> list[str]:
        """Change a notebook, and return the URIs of the cells that are gone."""
        notebook = self._notebooks.get(params.notebook_document.uri)
        change = params.change.cells
        if notebook is None or change is None:
            return []
        gone: list[str] = []
        if change.structure is not None:
            gone = self._restructure(notebook, change.structure)
        for text in change.text_content or ():
            uri = text.document.uri
            if uri in self._parts:
                lines = Lines(self._changed(uri, text.changes), self.encoding)
                self._parts[uri] = Part(uri, text.document.version, lines)
        self._put_notebook(notebook)
        return gone

    def close_notebook(self, uri: str) -> list[str]:
        """Close a notebook, and return the URIs of its cells."""
        notebook = self._notebooks.pop(uri, None)
        if notebook is None:
            return []
        cells = [cell for cell, owner in self._owners.items() if owner == uri]
        for cell in cells:
            self._forget_cell(cell)
        self._session.remove(uri)
        return cells

    def _restructure(
        self, notebook: _Notebook, change: lsp.NotebookDocumentCellChangeStructure
    ) -> list[str]:
        for cell in change.did_open or ():
            self._open_cell(notebook, cell)
        array = change.array
        new = [self._code(cell) for cell in array.cells or ()]
        notebook.cells[array.start : array.start + array.delete_count] = new
        gone = [cell.uri for cell in change.did_close or ()]
        for uri in gone:
            self._forget_cell(uri)
        return gone

    def _open_cell(self, notebook: _Notebook, cell: lsp.TextDocumentItem) -> None:
        if cell.language_id == "python":
            self._owners[cell.uri] = notebook.uri
            self._parts[cell.uri] = Part(cell.uri, cell.version, Lines(cell.text, self.encoding))

    def _forget_cell(self, uri: str) -> None:
        self._owners.pop(uri, None)
        self._parts.pop(uri, None)

    def _code(self, cell: lsp.NotebookCell) -> str | None:
        return cell.document if cell.kind == lsp.NotebookCellKind.Code else None

    def _put(self, uri: str, version: int, text: str) -> None:
        self._parts[uri] = Part(uri, version, Lines(text, self.encoding))
        self._session.put(OpenFile(uri, self._paths[uri], self._parts[uri]))

    def _put_notebook(self, notebook: _Notebook) -> None:
        cells = tuple(self._parts.get(uri or "") for uri in notebook.cells)
        self._session.put(OpenNotebook(notebook.uri, notebook.path, cells))

    def _changed(self, uri: str, changes: Sequence[lsp.TextDocumentContentChangeEvent]) -> str:
        text = self._parts[uri].text
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                text = Lines(text, self.encoding).changed(change.range, change.text)
            else:
                text = change.text
        return text


def _path(uri: str) -> str:
    """Where a document is, or would be were it a file."""
    path = to_fs_path(uri)
    return path or uri.partition(":")[2] or uri
