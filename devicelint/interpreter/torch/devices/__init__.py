"""Devices as values: the functions that give them, the arguments and strings that name them."""
