"""Whether everybody agrees with CUDA: torch's operator database, on mixed devices.

    python benchmarks/op_agreement.py [--op NAME]... [--limit N] [--json FILE] [--record]

For each operator and each of its tensors a case is made, in which that tensor alone is on the CPU
and the others are on an accelerator. Each judge says what becomes of it; README.md says who they
are. The reference is a real accelerator, where one is present or its answers are recorded below
`benchmarks/data`, else the rules that are generated from torch's own table.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from benchmarks.op_agreement_judges import JUDGES, Case, Placed, accelerator, tensors

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent

SAMPLES = 12
"""So many samples of an operator are looked at."""

Row = dict[str, Any]
"""A case: its `op`, its `argument`, whether that is a `scalar`, and each judge's answer."""


def cases(names: Sequence[str], limit: int | None) -> Iterator[Case]:
    """Yield the cases of the operators of these names; of all, without a name."""
    from torch.testing._internal.common_methods_invocations import op_db

    chosen = (op for op in op_db if not names or op.name in names)
    for op in islice(chosen, limit):
        for sample, given in enumerate(samples(op)):
            for index in range(len(tensors(given))):
                yield Case(op.name, op.variant_test_name, sample, op, given, index)


def samples(op: Any) -> Iterator[Placed]:
    """Yield up to two samples with several tensors: one with dimensions, one with a scalar."""
    kinds = op.supported_dtypes("cpu")
    dtype = torch.float32 if torch.float32 in kinds else min(kinds, key=str, default=None)
    met: set[bool] = set()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(islice(op.sample_inputs("cpu", dtype), SAMPLES)) if dtype else []
    except Exception as error:  # noqa: BLE001 - a sample that this torch cannot make
        print(f"{op.name}: no sample: {error}", file=sys.stderr)
        return
    for sample in found:
        given = (sample.input, *sample.args), dict(sample.kwargs)
        leaves = tensors(given)
        has_scalar = any(leaf.dim() == 0 for leaf in leaves)
        dense = all(leaf.layout is torch.strided for leaf in leaves)
        if len(leaves) > 1 and dense and has_scalar not in met:
            met.add(has_scalar)
            yield given


def judged(case: Case) -> Row:
    """Ask every judge."""
    torch.manual_seed(0)
    row: Row = {
        "op": case.name,
        "variant": case.variant,
        "sample": case.sample,
        "argument": case.chosen,
        "scalar": case.is_scalar,
    }
    for name, judge in JUDGES.items():
        row[name] = judge(case)
    if torch.cuda.is_available():
        row["accelerator"] = accelerator(case)
    return row


def recorded() -> dict[str, str]:
    """The answers of a real accelerator to the cases of the installed torch."""
    path = _record_path()
    if not path.is_file():
        return {}
    answers: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["answers"]
    return answers


def record(rows: Sequence[Row]) -> None:
    """Write down what the accelerator said."""
    answers = {_key(row): row["accelerator"] for row in rows}
    content = {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(),
        "answers": answers,
    }
    _record_path().parent.mkdir(exist_ok=True)
    _record_path().write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def release() -> str:
    """The release of the installed torch."""
    return str(torch.__version__).partition("+")[0]


def _record_path() -> Path:
    return HERE / "data" / f"op_agreement-torch-{release()}.json"


def _key(row: Row) -> str:
    name = ".".join(filter(None, (row["op"], row["variant"])))
    return f"{name}[{row['sample']}:{row['argument']}]"


def verdict(answer: str | None) -> str | None:
    """`runs` or `refused`; None where a judge did not say."""
    if answer in (None, "unsaid"):
        return None
    return "runs" if answer == "runs" else "refused"


def matrix(rows: Sequence[Row], judges: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table: in how many of the cases that both decide, two judges agree."""
    yield "".join(f"{name:>22}" for name in ("", *judges))
    for one in judges:
        yield f"{one:>22}" + "".join(f"{_agreed(rows, one, other):>22}" for other in judges)


def _agreed(rows: Sequence[Row], one: str, other: str) -> str:
    both = [(verdict(row.get(one)), verdict(row.get(other))) for row in rows]
    decided = [pair for pair in both if None not in pair]
    same = sum(first == second for first, second in decided)
    return f"{same}/{len(decided)} {same / len(decided):.1%}" if decided else "-"


def reasons() -> list[Row]:
    """Why a judge is allowed to differ from the reference, each for some operators or for all."""
    path = HERE / "op_agreement_reasons.toml"
    found: list[Row] = tomllib.loads(path.read_text(encoding="utf-8")).get("reason", [])
    return found


def reason(row: Row, judge: str, known: Sequence[Row]) -> str:
    """Why they differ; `?` where nobody has said."""
    for one in known:
        fits = row["op"] in one.get("operators", (row["op"],))
        fits &= row["scalar"] or not one.get("scalar", False)
        fits &= row[judge] in one.get("answers", (row[judge],))
        if fits and judge == one["judge"]:
            return str(one["text"])
    return "?"


def differences(rows: Sequence[Row], reference: str) -> Iterator[tuple[str, Row, str]]:
    """Yield each judge, case and reason where the judge differs from the reference."""
    known = reasons()
    for judge in JUDGES:
        for row in rows:
            said = verdict(row[judge]), verdict(row.get(reference))
            if None not in said and said[0] != said[1]:
                yield judge, row, reason(row, judge, known)


def report(rows: Sequence[Row]) -> int:
    """Print the matrix and where the judges differ; return 1 if a difference has no reason."""
    has_accelerator = any("accelerator" in row for row in rows)
    reference = "accelerator" if has_accelerator else "rules"
    judges = (*JUDGES, *(["accelerator"] if has_accelerator else ()))
    print(f"torch {torch.__version__}: {len({row['op'] for row in rows})} operators, ", end="")
    print(f"{len(rows)} cases; the reference: {reference}\n")
    print(*matrix(rows, judges), sep="\n")
    found = list(differences(rows, reference))
    for judge in JUDGES:
        mine = [(row, why) for other, row, why in found if other == judge]
        print(f"\n{judge} differs in {len(mine)} cases")
        for why, count in Counter(why for _, why in mine).most_common():
            named = dict.fromkeys(_key(row) for row, other in mine if other == why)
            print(f"  {count:4d}  {why}: {', '.join(named)}")
    words = [row for row in rows if row["virtual"] not in ("runs", "unsaid", row.get(reference))]
    words = [row for row in words if verdict(row.get(reference)) == "refused"]
    print(f"\nThe virtual GPU refuses in other words in {len(words)} cases:")
    for row in words:
        print(f"  {_key(row)}: {row['virtual']}, {reference} {row[reference]}")
    return int(any(why == "?" for _, _, why in found))


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Ask all judges of mixed devices, and compare.")
    parser.add_argument("--op", action="append", default=[], metavar="NAME", help="this operator")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N operators alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all answers to a file")
    parser.add_argument("--record", action="store_true", help="keep a real accelerator's answers")
    arguments = parser.parse_args()
    rows = [judged(case) for case in cases(arguments.op, arguments.limit)]
    if not rows:
        print("no operator of that name has several tensors", file=sys.stderr)
        return 2
    kept = recorded()
    for row in rows:
        if _key(row) in kept:
            row.setdefault("accelerator", kept[_key(row)])
    if arguments.record and torch.cuda.is_available():
        record(rows)
    if arguments.json:
        content = {"torch": torch.__version__, "rows": rows}
        arguments.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
