"""Messages as pygls reads them, without the copy of the texts that it keeps.

pygls ends lines where Python's `splitlines` does, at form feeds and line separators too, where no
editor ends one, and moves positions that lie beyond such an end.  `Documents` keeps the texts.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from lsprotocol import types as lsp
from pygls.protocol.language_server import LanguageServerProtocol, lsp_method


def _handing_on(method: str) -> Any:
    """What does nothing but to inform the server of a message."""

    def hand_on(
        protocol: LanguageServerProtocol, params: object
    ) -> Generator[tuple[Any, tuple[object], None], None, None]:
        if (handler := protocol.fm.features.get(method)) is not None:
            yield handler, (params,), None

    return lsp_method(method)(hand_on)


class Protocol(LanguageServerProtocol):
    """Hands what is said of texts to who keeps them, and to nobody else."""

    lsp_text_document__did_open = _handing_on(lsp.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _handing_on(lsp.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _handing_on(lsp.TEXT_DOCUMENT_DID_CLOSE)
    lsp_notebook_document__did_open = _handing_on(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    lsp_notebook_document__did_change = _handing_on(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    lsp_notebook_document__did_close = _handing_on(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
