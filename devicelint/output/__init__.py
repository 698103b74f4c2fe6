"""Findings to text, one format a file; nothing here reads or writes a file."""
