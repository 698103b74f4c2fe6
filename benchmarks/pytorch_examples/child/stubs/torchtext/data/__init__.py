"""Stands in for torchtext.data."""
