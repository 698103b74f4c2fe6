"""Malformed inputs for every front end of devicelint."""
