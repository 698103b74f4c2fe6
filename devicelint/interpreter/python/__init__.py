"""Python's meaning: statements, expressions, calls, classes, containers."""
