"""Write CUDA's device rules, as the virtual GPU applies them, from the operators of a torch.

`python tools/derive_device_rules.py` writes anew the table of the torch that is installed;
`--torch 2.8.0` writes that of any torch: pip brings its wheel (the small one, for macOS: the list
of operators is the same), from which no more than torchgen and a few texts are read. `--check`
writes nothing, and exits with 1 where a table is not what torch gives.

What torchgen cannot know stands in `derive_device_rules.toml`, each with its reason.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path
from typing import Any, TypeAlias

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
TABLES = Path("runtime_guard/virtual/dispatch/tables")
BY_HAND = HERE / "derive_device_rules.toml"
READER = HERE / "derive_wrappers.py"
TEXTS = {"got": b", different from other tensors on ", "found": b" (when checking argument for "}

Row: TypeAlias = tuple[Any, ...]
"""Kind, wrapper, arguments in the order in which they are compared, how many scalars are excused,
and which, where it is not any."""

Operator: TypeAlias = dict[str, Any]


class DeriveError(Exception):
    """A table cannot be derived."""


def table_path(release: str) -> Path:
    """Return where the table of a release of torch lies in the repository."""
    return TABLES / f"torch-{'.'.join(release.split('.')[:2])}.json"


def installed_release() -> str:
    """Return the release of the installed torch, without its build; `none` without a torch."""
    try:
        return version("torch").partition("+")[0]
    except PackageNotFoundError:
        return "none"


def installed_table() -> str:
    """Return the table of the installed torch."""
    found = files("torch") or ()
    library = next(file for file in found if file.stem in ("libtorch_cpu", "torch_cpu"))
    texts = _texts_of(Path(library.locate()))
    return table(installed_release(), _operators(None), texts)


def released_table(release: str) -> str:
    """Return the table of a release of torch, from the wheel that pip brings.

    Raises:
        DeriveError: pip brings none.
    """
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(_wheel(release, Path(folder))) as wheel:
            members = [name for name in wheel.namelist() if name.startswith("torchgen/")]
            library = next(name for name in wheel.namelist() if "/libtorch_cpu." in name)
            wheel.extractall(folder, [*members, library])
        return table(release, _operators(Path(folder)), _texts_of(Path(folder, library)))


def _wheel(release: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version", "3.11", "--dest", str(folder)]
    for platform in ("macosx_11_0_arm64", "macosx_14_0_arm64"):
        command += ["--platform", platform]
    if subprocess.run([*command, f"torch=={release}"], check=False).returncode:
        raise DeriveError(f"pip brings no torch {release}")
    return next(folder.glob("torch-*.whl"))


def _operators(torchgen: Path | None) -> dict[str, Operator]:
    """Return what the torchgen in that folder, or the installed one, says of each operator."""
    path = {"PYTHONPATH": str(torchgen)} if torchgen else {}
    reader = [sys.executable, str(READER)]
    done = subprocess.run(reader, env=os.environ | path, check=True, stdout=subprocess.PIPE)
    operators: dict[str, Operator] = json.loads(done.stdout)
    return operators


def _texts_of(library: Path) -> str:
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
        return next(name for name, text in TEXTS.items() if code.find(text) >= 0)


def table(release: str, operators: dict[str, Operator], texts: str) -> str:
    """Return the table, an operator a line, so that two of them can be compared by eye."""
    by_hand = dict(_by_hand(release, operators))
    found = ((name, _row(name, operator, by_hand)) for name, operator in sorted(operators.items()))
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found if row]
    head = f'{{"torch": "{release}", "texts": "{texts}", "ops": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"


def rules_by_hand() -> list[dict[str, Any]]:
    """Return the rules that nothing is derived from."""
    rules: list[dict[str, Any]] = tomllib.loads(BY_HAND.read_text(encoding="utf-8"))["rule"]
    return rules


def _by_hand(release: str, operators: dict[str, Operator]) -> Iterator[tuple[str, Row]]:
    for rule in rules_by_hand():
        since, before = rule.get("since", "0"), rule.get("before", "999")
        if not _parts(since) <= _parts(release) < _parts(before):
            continue
        like = operators.get(rule.get("like", ""), {})
        method = like.get("wrapper") or ""
        for name in rule["operators"]:
            if name in operators:
                arguments = rule.get("arguments") or operators[name]["arguments"]
                compared = arguments if rule["kind"] not in ("own", "unchecked") else []
                row = rule["kind"], method, compared, rule.get("scalars", 0)
                yield name, (*row, *rule.get("takes", ()))


def _parts(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _row(name: str, operator: Operator, by_hand: dict[str, Row]) -> Row | None:
    """Return the rule of an operator; None for one that is never met as itself on CUDA."""
    if operator["checked"]:
        return "exact", operator["wrapper"], operator["checked"], 0
    if name in by_hand:
        return by_hand[name]
    if operator["wrapper"]:
        return _unchecked_wrapper(name, operator)
    return ("composite", "", [], 0) if operator["composite"] == "explicit" else None


def _unchecked_wrapper(name: str, operator: Operator) -> Row:
    arguments, written = operator["arguments"], operator["written"]
    if name.startswith("_foreach_"):
        return ("pairs", "", arguments, 1) if len(arguments) > 1 else ("unchecked", "", [], 0)
    one_input = set(arguments[:-1]) <= set(written)
    in_place = name.partition(".")[0].endswith("_")
    if operator["structured"] == "iterator":
        return "iterator", "", arguments, 0 if one_input and not in_place else 1
    if operator["structured"]:
        return "output", "", arguments, 0
    if not one_input:
        raise DeriveError(f"{name}: its rule is not in {BY_HAND.name}")
    return "iterator", "", arguments, 0


def run(root: Path, release: str | None = None, *, check: bool) -> int:
    """Write a table that differs from what is derived, or name it; return the exit status.

    Without a release it is that of the installed torch, if one is kept of it.

    Raises:
        DeriveError: it cannot be derived.
    """
    path = table_path(release or installed_release())
    file = root / path
    former = file.read_text(encoding="utf-8") if file.is_file() else ""
    if release is None and f'"torch": "{installed_release()}"' not in former:
        print(f"device rules: no table is kept of the installed torch, {installed_release()}")
        return 0
    text = released_table(release) if release else installed_table()
    if text == former:
        return 0
    if check:
        print(f"{path.as_posix()}: not what torch gives; run `make generate`")
        return 1
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
    print(f"{path.as_posix()}: written")
    return 0


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Write CUDA's device rules of a torch.")
    parser.add_argument("--torch", metavar="RELEASE", help="of this torch, brought by pip")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    arguments = parser.parse_args()
    try:
        return run(HERE.parent, arguments.torch, check=arguments.check)
    except DeriveError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
