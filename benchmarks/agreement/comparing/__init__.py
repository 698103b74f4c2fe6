"""Holds claims against what was recorded: contradictions, resolution, and what modules own."""
