"""Checkpoints: loaded, used, and found to be from other machines."""
