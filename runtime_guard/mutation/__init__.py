"""Proves with runs what a script needs: which moves, on which machines."""
