"""Datasets and DataLoaders: what batches are made of, by whom, and where."""
