"""The tests of devicelint."""
