"""Packages with tests and scripts that run on virtual GPUs, for other judges to watch."""
