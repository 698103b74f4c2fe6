"""Test suites of public packages, on their CUDA path, without a GPU."""
