"""Loops, comprehensions and the functions that iterate."""
