"""The README as PyPI shows it: the build's hook makes its links lead to the repository.

hatchling loads this file by its path, in an environment that has nothing but hatchling. Without an
address of the repository in `[project.urls]`, the README stays as it is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\[\]]*\])\((?P<target>(?![a-z]+:|#)[^()\s]+)\)")


def published(readme: str, repository: str | None, version: str) -> str:
    """Return the README with links to the files of the release with this version."""
    if not repository:
        return readme
    root = repository.rstrip("/")

    def absolute(link: re.Match[str]) -> str:
        view = "raw" if link["image"] else "blob"
        return f"{link['image']}{link['text']}({root}/{view}/v{version}/{link['target']})"

    return _LINK.sub(absolute, readme)


class ReadmeHook(MetadataHookInterface):
    """Fills in `readme`, which pyproject.toml declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Give the project its README."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": published(text, repository, metadata["version"]),
        }
