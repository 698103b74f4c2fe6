"""Malformed inputs for every door of devicelint."""
