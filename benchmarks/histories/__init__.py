"""Fixes of device mistakes, mined from the histories of public repositories."""
