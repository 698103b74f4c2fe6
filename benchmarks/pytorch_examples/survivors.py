"""Mutants that live, and why CUDA would let them live as well: `survivors.toml`, read."""

from __future__ import annotations

from benchmarks.pytorch_examples.runs import tables

REASONS: dict[tuple[str, str, str, str], str] = {
    (run, each["file"], each["written"], each["move"]): each["reason"]
    for each in tables("survivors.toml")["survivor"]
    for run in each["runs"]
}
"""By the name of the run, the file, the line as it is written, and the move that is taken out."""
