"""Copies and waits: recorded while a program runs, and reported."""
