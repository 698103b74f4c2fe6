"""One page that needs nothing else: no network, no server, one file."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files

from _device_pages.markup import Html, joined

_GAP = re.compile(r"@@(\w+)@@")


@dataclass(frozen=True)
class Frame:
    """A page by its parts.

    Attributes:
        generator: the program that makes it.
        title: what a window with it is called.
        heading: what stands above all else.
        main: what it shows.
        footer: what stands below that.
        style: its CSS, beside that of all pages.
        script: the only script that a browser may run there.
        data: what the script reads.
    """

    generator: str
    title: str
    heading: Html
    main: Html
    footer: Html
    style: str
    script: str
    data: Html | None = None

    def render(self) -> str:
        """The whole page."""
        style = f"{resource('_device_pages', 'base.css')}{self.style}"
        filled = {
            "policy": _policy(style, self.script),
            "generator": joined(self.generator).text,
            "title": joined(self.title).text,
            "style": style,
            "heading": self.heading.text,
            "main": self.main.text,
            "footer": self.footer.text,
            "data": joined(self.data).text,
            "script": self.script,
        }
        # In one pass: a part may say what it likes.
        return _GAP.sub(lambda gap: filled[gap[1]], resource("_device_pages", "frame.html"))


def resource(package: str, name: str) -> str:
    """The text of a file that lies among the modules of a package."""
    return files(package).joinpath(name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Let the browser run this script alone, and fetch nothing."""
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src {_hash(script)}"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
