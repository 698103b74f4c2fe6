"""What runs said, for programs."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from runtime_guard.mutation.agreement import Agreement
from runtime_guard.mutation.machines import Proof
from runtime_guard.mutation.mutation import Mutant, Mutation
from runtime_guard.mutation.running import Job, Run
from runtime_guard.mutation.tables import outcome, without


def of_mutation(mutation: Mutation) -> dict[str, Any]:
    """What `mutate` found."""
    return {
        **_of_job(mutation.job),
        "devices": mutation.devices,
        "whole": _of_run(mutation.whole, mutation.job),
        "moves": [_of_mutant(mutant, mutation.job) for mutant in mutation.mutants],
        "counts": mutation.count(),
        **_versions(),
    }


def of_proof(proof: Proof) -> dict[str, Any]:
    """What `prove` found."""
    return {
        **_of_job(proof.job),
        "before": None if proof.before is None else _of_runs(proof.before, proof),
        "after": _of_runs(proof.after, proof),
        "losses": _losses(proof.agreement),
        "changed_lines": list(dict.fromkeys(mark.line for mark in proof.changes)),
        "unreached_lines": proof.unreached(),
        "unreached_elsewhere": proof.unreached_elsewhere(),
        "problems": proof.problems(),
        **_versions(),
    }


def _losses(agreement: Agreement | None) -> dict[str, str] | None:
    if agreement is None:
        return None
    return {"verdict": agreement.verdict, "told": agreement.text}


def _of_mutant(mutant: Mutant, job: Job) -> dict[str, Any]:
    move = mutant.move
    return {
        "line": move.line,
        "column": move.column,
        "text": move.text,
        "kind": move.kind,
        "verdict": mutant.verdict,
        "same": mutant.same,
        "told": without(mutant, job),
        "run": None if mutant.run is None else _of_run(mutant.run, job),
    }


def _of_runs(runs: tuple[Run, ...], proof: Proof) -> list[dict[str, Any]]:
    return [
        {"machine": machine, **_of_run(run, proof.job)}
        for machine, run in zip(proof.machines(), runs, strict=True)
    ]


def _of_run(run: Run, job: Job) -> dict[str, Any]:
    return {
        "gpus": run.gpus,
        "real": run.real,
        "ending": run.ending,
        "status": run.status,
        "steps": run.steps,
        "devices": list(run.devices),
        "failure": None if run.failure is None else asdict(run.failure),
        "losses": [[[loss.step, loss.shown] for loss in each] for each in run.losses],
        "seconds": run.seconds,
        "told": outcome(run, job),
    }


def _of_job(job: Job) -> dict[str, Any]:
    return {
        "script": job.script,
        "arguments": list(job.arguments),
        "steps": job.steps,
        "timeout": job.timeout,
    }


def _versions() -> dict[str, str | None]:
    return {"version": _version_of("devicelint"), "torch": _version_of("torch")}


def _version_of(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
