"""Lets pytest collect pages wherever they stand: the rules' are inside the package."""

pytest_plugins = ("tests.mdtest.plugin", "pytester")
