"""The generated pages follow from the rules, and the check names every one that does not."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from devicelint.finding import Severity
from tools import adopt_examples
from tools.generate import BEGIN, END, README, GenerateError, Rule, run, with_table


class Lost:
    code: ClassVar[str] = "DEV104"
    name: ClassVar[str] = "discarded-move"
    severity: ClassVar[Severity] = Severity.ERROR
    summary: ClassVar[str] = "A move is thrown away: `x | y`"
    default: ClassVar[bool] = True
    adopts: ClassVar[bool] = False
    preview: ClassVar[bool] = False
    until: ClassVar[tuple[int, int] | None] = None

    @classmethod
    def documentation(cls) -> str:
        return "# discarded-move\n\nSee [mixed-devices](mixed_devices.md).\n\n"


RULES: tuple[type[Rule], ...] = (Lost,)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / README).write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    return tmp_path


def test_a_run_writes_everything_and_the_check_agrees(root, capsys):
    assert run(root, RULES, check=False) == 0
    assert run(root, RULES, check=True) == 0
    assert capsys.readouterr().out.splitlines() == [
        "devicelint/rule_index/_written.py: written",
        "docs/rules.md: written",
        "README.md: written",
        "docs/rules/discarded_move.md: written",
    ]


def test_a_page_is_the_rule_s_own_under_a_line_that_says_where_from(root):
    run(root, RULES, check=False)
    page = (root / "docs/rules/discarded_move.md").read_text(encoding="utf-8")
    first, _, rest = page.partition("\n")
    assert "devicelint/rules/discarded_move.md" in first
    assert rest == "\n# discarded-move\n\nSee [mixed-devices](mixed_devices.md).\n"


def test_the_readme_keeps_what_surrounds_the_table():
    row = (
        "| DEV104 | [discarded-move](docs/rules/discarded_move.md) | error "
        "| A move is thrown away: `x \\| y` |"
    )
    written = with_table(f"before\n{BEGIN}{END}\nafter\n", RULES)
    assert written.startswith(f"before\n{BEGIN}\n| Code |")
    assert written.endswith(f"\n{row}\n{END}\nafter\n")


def test_the_check_names_what_differs_is_missing_or_has_no_rule(root, capsys):
    run(root, RULES, check=False)
    (root / "docs/rules.md").write_text("changed", encoding="utf-8")
    (root / "docs/rules/discarded_move.md").unlink()
    (root / "docs/rules/gone.md").write_text("no rule has this", encoding="utf-8")
    capsys.readouterr()
    assert run(root, RULES, check=True) == 1
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "docs/rules.md",
        "docs/rules/discarded_move.md",
        "docs/rules/gone.md",
    ]


def test_a_page_that_no_rule_has_is_removed(root):
    run(root, RULES, check=False)
    run(root, (), check=False)
    assert not list((root / "docs/rules").iterdir())


def test_a_readme_without_a_place_for_the_table_is_refused():
    with pytest.raises(GenerateError, match=r"README\.md"):
        with_table("no markers\n", RULES)


def test_adopted_examples_are_written_anew(tmp_path, capsys):
    folder = tmp_path / "examples/adopt/one"
    folder.mkdir(parents=True)
    script = "import torch\n\nnet = torch.nn.Linear(2, 2).cuda()\n"
    (folder / "before.py").write_text(script, encoding="utf-8")
    assert adopt_examples.run(tmp_path, check=True) == 1
    assert adopt_examples.run(tmp_path, check=False) == 0
    assert adopt_examples.run(tmp_path, check=True) == 0
    assert capsys.readouterr().out.splitlines() == [
        "examples/adopt/one/after.py: not what adoption makes of it; run `make generate`",
        "examples/adopt/one/after.py: written",
    ]
    after = (folder / "after.py").read_text(encoding="utf-8")
    assert "net = torch.nn.Linear(2, 2).to(device)\n" in after
