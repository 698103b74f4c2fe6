"""Stands in for torchtext, which is no longer made: a few sentences, split at blanks."""
