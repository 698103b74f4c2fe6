"""Holds what devicelint claims of real programs against what was recorded of them as they ran."""
