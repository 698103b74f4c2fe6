"""Write what follows from the rules: their index, their table, a page for each, the README's table.

`python tools/generate.py` writes what differs and removes pages of rules that are no more;
`--check` writes nothing, names every file that is not as the rules have it, and exits with 1.
So it does with CUDA's device rules, which follow from the torch that is installed, with the
adopted examples, and with tables and pages of the documentation.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from devicelint.domain.torch_release import TorchRelease
from devicelint.finding import Severity
from tools import (
    adopt_examples,
    derive_device_rules,
    derive_knowledge,
    written_pages,
)

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path("docs/rules.md")
PAGES = Path("docs/rules")
README = Path("README.md")
INDEX = Path("devicelint/rule_index/_written.py")
BEGIN = "<!-- rules: begin, written by tools/generate.py -->"
END = "<!-- rules: end -->"


class Rule(Protocol):
    """What is written about a rule."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]
    default: ClassVar[bool]
    adopts: ClassVar[bool]
    preview: ClassVar[bool]
    until: ClassVar[TorchRelease | None]

    @classmethod
    def documentation(cls) -> str:
        """Return the text of the page beside the rule."""


class GenerateError(Exception):
    """A page has no place for what is generated."""


def page_name(rule: type[Rule]) -> str:
    """Name a rule's page as its source is named, so that links between such pages hold."""
    return rule.name.replace("-", "_") + ".md"


def table(rules: Iterable[type[Rule]], pages: Path) -> str:
    """Return the Markdown table of the rules, with links to their pages below `pages`."""
    head = ("| Code | Name | Severity | Reports |", "| --- | --- | --- | --- |")
    return "\n".join((*head, *(_row(rule, pages) for rule in rules))) + "\n"


def _row(rule: type[Rule], pages: Path) -> str:
    link = f"[{rule.name}]({(pages / page_name(rule)).as_posix()})"
    summary = rule.summary.replace("|", "\\|")
    severity = rule.severity.value + (
        ", preview" if rule.preview else "" if rule.default else ", off by default"
    )
    return f"| {rule.code} | {link} | {severity} | {summary} |"


def table_page(rules: Iterable[type[Rule]]) -> str:
    """Return the page that lists all rules."""
    severities = "".join(f"* *{severity.value}*: {meaning}\n" for severity, meaning in MEANINGS)
    return (
        f"{_generated_from('the rules in devicelint/rules')}\n# Rules\n\n"
        f"{table(rules, Path(PAGES.name))}\n"
        f"The severity of a finding says how serious it is:\n\n{severities}"
    )


MEANINGS = (
    (Severity.ERROR, "fails, or gives wrong results, on the reported line."),
    (Severity.WARNING, "fails elsewhere, or under the condition that its message states."),
    (Severity.NOTE, "works, and is worth knowing."),
)


def rule_page(rule: type[Rule]) -> str:
    """Return the published copy of a rule's page."""
    source = f"devicelint/rules/{page_name(rule)}"
    return f"{_generated_from(source)}\n{rule.documentation().rstrip()}\n"


def _generated_from(source: str) -> str:
    return f"<!-- Written by tools/generate.py from {source}: change that, `make generate`. -->\n"


def index(rules: Iterable[type[Rule]]) -> str:
    """Return the module that says what is known of each rule without importing it."""
    entries = "".join(map(_entry, rules))
    return (
        '"""What the rules say of themselves.\n\n'
        "Written by tools/generate.py from the rules in devicelint/rules: change those, "
        '`make generate`.\n"""\n\n'
        "from devicelint.finding import Severity\n"
        "from devicelint.rule_index._facts import RuleFacts\n\n"
        f"RULES = (\n{entries})\n"
    )


def _entry(rule: type[Rule]) -> str:
    stated = [
        f"code={_quoted(rule.code)}",
        f"name={_quoted(rule.name)}",
        f"severity={rule.severity}",
        f"summary={_quoted(rule.summary)}",
    ]
    if not rule.default:
        stated.append("default=False")
    if rule.adopts:
        stated.append("adopts=True")
    if rule.preview:
        stated.append("preview=True")
    if rule.until is not None:
        stated.append(f"until={rule.until}")
    lines = "".join(f"        {each},\n" for each in stated)
    return f"    RuleFacts(\n{lines}    ),\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def with_table(readme: str, rules: Iterable[type[Rule]]) -> str:
    """Return the README with the table of the rules between its two markers."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise GenerateError(f"{README}: no place for the rules: it needs {BEGIN} and {END}")
    return f"{before}{begin}\n{table(rules, PAGES)}{end}{after}"


def generated(rules: Sequence[type[Rule]], readme: str) -> dict[Path, str]:
    """Return what each generated file must hold, by its path in the repository."""
    pages = {PAGES / page_name(rule): rule_page(rule) for rule in rules}
    readme = with_table(readme, rules)
    return {INDEX: index(rules), TABLE: table_page(rules), README: readme, **pages}


def stale(root: Path, expected: dict[Path, str]) -> Iterator[Path]:
    """Yield the files that are missing, differ, or belong to a rule that is no more."""
    for path, content in expected.items():
        file = root / path
        if not file.is_file() or file.read_text(encoding="utf-8") != content:
            yield path
    for file in sorted((root / PAGES).glob("*.md")):
        if file.relative_to(root) not in expected:
            yield file.relative_to(root)


def write(root: Path, path: Path, content: str | None) -> None:
    """Give the file its content, or remove the page that no rule has."""
    file = root / path
    if content is None:
        file.unlink()
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8", newline="\n")


def run(root: Path, rules: Sequence[type[Rule]], *, check: bool) -> int:
    """Write the stale files, or name them; return the exit status."""
    expected = generated(rules, (root / README).read_text(encoding="utf-8"))
    found = list(stale(root, expected))
    for path in found:
        if check:
            print(f"{path.as_posix()}: not what the rules give; run `make generate`")
        else:
            write(root, path, expected.get(path))
            print(f"{path.as_posix()}: {'written' if path in expected else 'removed'}")
    return 1 if check and found else 0


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Write the pages that follow from the rules.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if any differs")
    arguments = parser.parse_args()
    # Here, not above: the tests give rules of their own.
    from devicelint.rules import all_rules

    try:
        pages = run(ROOT, all_rules(), check=arguments.check)
        rules = derive_device_rules.run(ROOT, check=arguments.check)
        examples = adopt_examples.run(ROOT, check=arguments.check)
        others = written_pages.run(ROOT, check=arguments.check)
        knowledge = derive_knowledge.run(check=arguments.check)
        return max(pages, rules, examples, others, knowledge)
    except (GenerateError, derive_device_rules.DeriveError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
