"""Moves under conditions of the program, and whether they can do without."""
