"""The site: it is built with every complaint an error, and holds a page for all there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from devicelint.cli.options.parser import COMMANDS
from devicelint.rule_index import all_facts

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
    build(config)
    return folder


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_every_rule_has_a_page_in_the_navigation(site):
    front = text(site / "index.html")
    for rule in all_facts():
        page = f"rules/{rule.name.replace('-', '_')}.html"
        assert f'href="{page}"' in front
        assert f"{rule.name} ({rule.code})" in text(site / page)


def test_every_page_of_the_repository_is_in_the_navigation(site):
    front = text(site / "index.html")
    docs = ROOT / "docs"
    pages = [path.relative_to(docs).with_suffix("").as_posix() for path in docs.rglob("*.md")]
    assert [page for page in pages if f'href="{page}.html"' not in front] == []


def test_every_command_is_in_the_reference(site):
    page = text(site / "commands.html")
    assert re.findall(r'<h2 id="devicelint-(\w+)"', page) == sorted(COMMANDS)
    assert "--exit-zero" in page


def test_nothing_is_fetched_from_elsewhere(site):
    # A canonical link says where the page is published, and is not fetched.
    link = r'link(?! rel="canonical")'
    fetched = re.compile(rf'<(?:script|img|{link}|iframe)\b[^>]*(?:src|href)="(https?:|//)[^"]*"')
    assert [page.name for page in site.rglob("*.html") if fetched.search(text(page))] == []


def test_fences_of_tests_are_code_on_the_site(site):
    page = text(site / "rules/mixed_devices.html")
    assert "```" not in page
    assert page.count('<div class="highlight">') > 20


def test_a_link_to_the_readme_leads_to_the_first_page(site):
    from tools.docs_site import _link

    assert _link("a", "../README.md#rules", "docs/fixes.md", "fixes.md") == "[a](index.md#rules)"
    assert _link("a", "docs/rules/x.md", "README.md", "index.md") == "[a](docs/rules/x.md)"
    assert _link("a", "docs/rules.md", "README.md", "index.md") == "[a](rules.md)"
    assert _link("a", "../rules.md", "docs/rules/x.md", "rules/x.md") == "[a](../rules.md)"
    assert _link("a script", "examples/README.md", "README.md", "index.md") == "a script"
