"""Runs a script, and its children, under a guard: the command line and the environment."""
