"""Hooks of MkDocs: the pages of the site that are made from something, and links that hold there.

What is written once in the repository is read where it lies: the README is the first page, the
reference of commands comes from the parsers, the rules' pages are those below docs/rules.  Fences
of pages that are tests (`py run`, `diff safe`) lose what only the tests read.
"""

from __future__ import annotations

import os.path
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from devicelint.rule_index import all_facts
from tools import addresses, commands_page

ROOT = Path(__file__).resolve().parent.parent

TAKEN_IN = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "tests/mdtest/README.md": "pages_as_tests.md",
}
"""Files outside of docs/ that are pages of the site."""

_FENCE = re.compile(r"^(\s*(?:>\s*)?`{3,})(py|diff|text|toml)\b.*$", re.MULTILINE)
_LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)")
_BLOCK = re.compile(r"^(\s*`{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give the site its address, and every page a place in the navigation."""
    _publish(config, addresses.Project.read())
    entries: list[Any] = list(config.nav or [])
    for entry in entries:
        if isinstance(entry, dict) and "Rules" in entry:
            entry["Rules"] += [
                {f"{rule.code} {rule.name}": f"rules/{rule.name.replace('-', '_')}.md"}
                for rule in all_facts()
            ]
    named = set(_pages_in(entries))
    pages = (path.name for path in sorted(Path(config.docs_dir).glob("*.md")))
    if forgotten := [name for name in pages if name not in named]:
        entries.append({"More": forgotten})
    config.nav = entries
    return config


def _publish(config: MkDocsConfig, project: addresses.Project) -> None:
    """Take over the addresses of `[project.urls]`, if it has any."""
    config.site_url = project.urls.get("Documentation")
    if repository := project.urls.get("Repository"):
        config.repo_url, config.repo_name = repository, project.slug


def _pages_in(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    below = entry.values() if isinstance(entry, dict) else entry
    return [page for each in below for page in _pages_in(each)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere or are made."""
    for source, page in TAKEN_IN.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "commands.md", content=commands_page.text()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Fix what is right in the repository and not on the site."""
    place = page.file.src_uri
    source = next((path for path, name in TAKEN_IN.items() if name == place), f"docs/{place}")
    blocks = [match.span() for match in _BLOCK.finditer(markdown)]

    def fixed_link(link: re.Match[str]) -> str:
        if any(start <= link.start() < end for start, end in blocks):
            return link[0]
        return _link(link["text"], link["target"], source, place)

    return _FENCE.sub(r"\1\2", _LINK.sub(fixed_link, markdown))


def _link(text: str, target: str, source: str, place: str) -> str:
    """The link as the page of the site has it; its text alone where the site has no such page."""
    path, hash_, anchor = target.partition("#")
    if not path or "://" in target:
        return f"[{text}]({target})"
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if not (ROOT / meant).exists():
        return f"[{text}]({target})"  # MkDocs complains of it.
    page = TAKEN_IN.get(meant) or (meant.removeprefix("docs/") if meant[:5] == "docs/" else None)
    if page is None:
        return text
    return f"[{text}]({os.path.relpath(page, posixpath.dirname(place) or '.')}{hash_}{anchor})"
