"""Derive what torch's functions do to devices, and write the stubs that nobody wrote by hand.

`python -m tools.derive_knowledge` probes the installed torch on the virtual GPU, which takes a
minute or two, and writes two things: `tools/derived_knowledge.json`, a device signature for each
function that could be called, and `devicelint/knowledge/stubs/derived/*.pyi`, those of them that no
other stub states. `--stubs` writes the stubs alone, from the table, in no time; `--check` writes
nothing, and exits with 1 where anything differs; `--only NAME` prints what is derived of one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.derive_knowledge_probe import Sample

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tools/derived_knowledge.json"
STUBS = ROOT / "devicelint/knowledge/stubs"

FILES = {
    "torch": "derived/torch",
    "torch.Tensor": "derived/tensor",
    "torch.nn.functional": "derived/functional",
    "torch.masked": "derived/masked",
    "torch.signal.windows": "derived/windows",
    "torch.sparse": "derived/sparse",
    "torch.nested": "derived/nested",
    "torch.ops.aten": "derived/aten",
}
"""The stub file that the derived functions of a module go to."""


def installed_release() -> str:
    """The release of the installed torch, without its build; `none` without a torch."""
    try:
        return version("torch").partition("+")[0]
    except PackageNotFoundError:
        return "none"


def derived(chosen: Iterable[str] = ()) -> dict[str, str]:
    """The signature of each function that can be called, or of those chosen, by its name."""
    import runtime_guard
    from tools.derive_knowledge_calls import samples
    from tools.derive_knowledge_signature import signature

    wanted = set(chosen)
    found: dict[str, list[Sample]] = defaultdict(list)
    for name, made in samples():
        if not wanted or name in wanted:
            found[name] += made()
    with runtime_guard.virtual_gpu():
        stated = {name: signature(name, given) for name, given in sorted(found.items())}
    return {name: text for name, text in stated.items() if text is not None}


def stubs(table: Mapping[str, str]) -> dict[str, str]:
    """The text of each generated stub file: what the table says and no other stub does."""
    written = _written_by_hand()
    lines: dict[str, list[str]] = {file: [] for file in FILES.values()}
    for name, text in table.items():
        module, _, short = name.rpartition(".")
        if module in FILES and short not in written[module]:
            indented = "    " if module == "torch.Tensor" else ""
            lines[FILES[module]].append(f"{indented}def {short}{text}: ...")
    return {file: _file(file, found) for file, found in lines.items()}


def _file(file: str, lines: list[str]) -> str:
    module = next(module for module, name in FILES.items() if name == file)
    head = f'"""{module}, derived by tools/derive_knowledge.py; what is written by hand wins."""\n'
    opened = ["class Tensor:"] if module == "torch.Tensor" else []
    return "\n".join([head, *opened, *lines, ""])


def _written_by_hand() -> dict[str, set[str]]:
    """The names of each module that other stubs state."""
    from devicelint.knowledge.stubs_index import index

    return {
        module: {name for name, found in index(module).items() if found.file != FILES[module]}
        for module in FILES
    }


def read() -> dict[str, str]:
    """The committed table."""
    functions: dict[str, str] = json.loads(TABLE.read_text(encoding="utf-8"))["functions"]
    return functions


def kept_release() -> str:
    """The release of torch that the committed table is derived from."""
    return str(json.loads(TABLE.read_text(encoding="utf-8"))["torch"])


def _table(functions: Mapping[str, str]) -> str:
    """The table, a function a line, so that two of them can be compared by eye."""
    lines = [f"{json.dumps(name)}: {json.dumps(text)}" for name, text in functions.items()]
    head = f'{{"torch": "{installed_release()}", "functions": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"


def run(*, check: bool, table: Mapping[str, str] | None = None) -> int:
    """Write the stubs that differ, and the table where one is given, or name them."""
    expected = {STUBS / f"{file}.pyi": text for file, text in stubs(table or read()).items()}
    if table is not None:
        expected[TABLE] = _table(table)
    stale = [path for path, text in expected.items() if _content(path) != text]
    for path in stale:
        name = path.relative_to(ROOT).as_posix()
        if check:
            print(f"{name}: not what torch gives; run `python -m tools.derive_knowledge`")
        else:
            path.write_text(expected[path], encoding="utf-8", newline="\n")
            print(f"{name}: written")
    return int(check and bool(stale))


def _content(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Derive what torch does to devices.")
    parser.add_argument("--stubs", action="store_true", help="write the stubs from the table")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="print this")
    arguments = parser.parse_args()
    if arguments.only:
        for name, text in derived(arguments.only).items():
            print(f"{name}{text}")
        return 0
    return run(check=arguments.check, table=None if arguments.stubs else derived())


if __name__ == "__main__":
    sys.exit(main())
