"""What the knowledge costs that a check loads: milliseconds of processor time, in a new process.

    python -m benchmarks.knowledge_load [FILE]...

Each file, or each broken example without any, is checked in a process that has loaded nothing;
what reads stub files, scans them, parses their definitions and reads their annotations is timed.
The exit status is 1 where any file costs more than 15 ms.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BOUND = 15.0
"""So many milliseconds may it cost."""

RUNS = 3
"""The quickest of so many counts."""

TIMED = """
import sys, time
from pathlib import Path
from devicelint import check, engine
from devicelint.knowledge import catalogue, grammar, library, modules, stubs_index
spent = definitions = depth = 0
def timed(owner, name):
    called = getattr(owner, name)
    def timing(*args, **kwargs):
        global spent, definitions, depth
        definitions += name == "parse"
        depth += 1
        start = time.process_time()
        try:
            return called(*args, **kwargs)
        finally:
            depth -= 1
            spent += 0 if depth else time.process_time() - start
    setattr(owner, name, timing)
timed(stubs_index.Definition, "parse")
timed(library, "index"), timed(modules, "index")
timed(grammar, "signature"), timed(grammar, "result"), timed(catalogue, "read")
check(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[1])
print(definitions, spent * 1000)
"""


def cost(file: Path) -> tuple[int, float]:
    """How many definitions a check of the file parses, and what its knowledge costs."""
    runs = [_once(file) for _ in range(RUNS)]
    return min(runs, key=lambda run: run[1])


def _once(file: Path) -> tuple[int, float]:
    command = [sys.executable, "-c", TIMED, str(file)]
    done = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    definitions, spent = done.stdout.split()
    return int(definitions), float(spent)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Time what a check loads of the knowledge.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="to be checked")
    files = parser.parse_args().files or sorted((ROOT / "examples/broken").glob("*.py"))
    worst = 0.0
    for file in files:
        definitions, spent = cost(file.resolve())
        worst = max(worst, spent)
        print(f"{spent:6.1f} ms  {definitions:4d} definitions  {file.name}")
    print(f"{worst:6.1f} ms at most, of {BOUND:.0f}: {'pass' if worst <= BOUND else 'FAIL'}")
    return int(worst > BOUND)


if __name__ == "__main__":
    sys.exit(main())
