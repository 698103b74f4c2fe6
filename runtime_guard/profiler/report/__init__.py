"""Recordings as tables and as a page."""
