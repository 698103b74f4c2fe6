"""How many real training scripts adopt to the device pattern, run, and learn the same.

    python -m benchmarks.adoption FOLDER [--only OWNER/NAME[/PATH] ...] [--run] [--record]

FOLDER holds the checkouts. README.md says what is adopted, and what of it is run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.adoption.adopting import adopt
from benchmarks.adoption.listed import Listed, Repository, matched, path_of, read_lists, written
from benchmarks.adoption.reporting import differences, promises, table
from benchmarks.adoption.running import compare
from benchmarks.adoption.serving import Server
from benchmarks.checkouts import Checkout, CheckoutError, checkouts_below
from benchmarks.promised import all_kept

LISTS = Path(__file__).parents[1] / "adopted"

COPIED = (".py", ".txt", ".csv", ".gz", ".json", ".tsv", ".ipynb")


def judged(
    checkout: Checkout, listed: Listed, options: argparse.Namespace, server: Server | None
) -> Listed:
    """A file with what becomes of it now; what is not asked for stays as it was recorded."""
    with tempfile.TemporaryDirectory(prefix="adoption-", dir=options.scratch) as name:
        scratch = Path(name)
        adopted = scratch / "adopted"
        _copy(checkout.folder, adopted)
        done = adopt(adopted / listed.path)
        listed = replace(listed, adopted=done.verdict, left=done.left)
        if options.keep:
            _keep(adopted / listed.path, options.keep / checkout.folder.name / listed.path)
        if server is None:
            return listed
        if listed.excuse:
            return replace(listed, ran="not runnable", told=listed.excuse)
        if not done.changed:
            return replace(listed, ran="not adopted", told="")
        before = partial(_fresh, checkout.folder, scratch / "run", listed.path)
        after = partial(_fresh, adopted, scratch / "run", listed.path)
        ran = compare(listed, before, after, server)
        return replace(listed, ran=ran.verdict, told=ran.told)


def _fresh(source: Path, target: Path, path: str) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    _copy(source, target)
    return target / path


def _copy(source: Path, target: Path) -> None:
    def unwanted(folder: str, names: list[str]) -> list[str]:
        return [
            name for name in names if not name.endswith(COPIED) and not Path(folder, name).is_dir()
        ]

    shutil.copytree(source, target, ignore=unwanted)


def _keep(adopted: Path, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(adopted, kept)


def chosen(
    repositories: Sequence[Repository], only: Sequence[str]
) -> Iterator[tuple[Repository, Listed]]:
    """Yield each file of each list that is asked for."""
    for repository in repositories:
        for listed in repository.files:
            name = f"{repository.name}/{listed.path}"
            if not only or any(name == each or name.startswith(f"{each}/") for each in only):
                yield repository, listed


def record(
    lists: Path, repositories: Sequence[Repository], found: dict[tuple[str, str], Listed]
) -> None:
    """Write the lists anew, with what was found of the files that were tried."""
    for repository in repositories:
        files = tuple(found.get((repository.name, each.path), each) for each in repository.files)
        text = written(replace(repository, files=files))
        path_of(lists, repository.name).write_text(text, encoding="utf-8")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the checkouts")
    add("--only", nargs="*", default=(), metavar="OWNER/NAME[/PATH]", help="these files alone")
    add("--run", action="store_true", help="run what is adopted, too")
    add("--record", action="store_true", help="write what is found into the lists")
    add("--keep", type=Path, metavar="DIR", help="keep the adopted files there")
    add("--packages", type=Path, default=Path(), metavar="DIR", help="what scripts import")
    add("--lists", type=Path, default=LISTS, metavar="DIR", help="which files, and their verdicts")
    add("--scratch", type=Path, metavar="DIR", help="where files are copied to")
    return parser.parse_args(arguments)


def all_judged(
    repositories: Sequence[Repository], options: argparse.Namespace
) -> Iterator[tuple[str, Listed, Listed]]:
    """Yield each file that is asked for with its repository: as it is recorded, and as it is.

    Raises:
        CheckoutError: a checkout is at another commit than its list.
    """
    checkouts = checkouts_below(options.folder)
    server = Server(options.packages.resolve()) if options.run else None
    for repository, listed in chosen(repositories, options.only):
        checkout = matched(repository, checkouts)
        if checkout is None:
            print(f"{repository.name} is not below {options.folder}", file=sys.stderr)
            continue
        now = judged(checkout, listed, options, server)
        print(f"{now.adopted:24} {now.ran:20} {repository.name}/{now.path}  {now.told}")
        print(*(f"    {each}" for each in now.left), sep="\n", end="\n" if now.left else "")
        sys.stdout.flush()
        yield repository.name, listed, now
    if server is not None:
        server.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Adopt: 0 where all is as recorded and promised, 1 where it is not, 2 where it cannot be."""
    options = parse_arguments(arguments)
    found: dict[tuple[str, str], Listed] = {}
    otherwise: list[str] = []
    try:
        repositories = read_lists(options.lists)
        for name, listed, now in all_judged(repositories, options):
            found[name, listed.path] = now
            if options.record:
                record(options.lists, repositories, found)
            else:
                otherwise += differences(name, listed, now)
    except CheckoutError as error:
        print(error, file=sys.stderr)
        return 2
    if not found:
        print(f"no listed file is below {options.folder}", file=sys.stderr)
        return 2
    return int(not report(found) or bool(tell(otherwise)))


def report(found: dict[tuple[str, str], Listed]) -> bool:
    """Print the table and the promises; whether they hold."""
    print("", *table(found), "", sep="\n")
    return all_kept(promises(list(found.values())))


def tell(lines: Sequence[str]) -> int:
    """Print lines, and give their number."""
    for line in lines:
        print(line)
    return len(lines)


if __name__ == "__main__":
    sys.exit(main())
