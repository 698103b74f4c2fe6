"""Mutants of real packages and scripts: `python -m benchmarks.mutants`."""
