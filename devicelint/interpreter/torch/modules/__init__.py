"""Modules of torch: what they own, how they move, what calling them gives."""
