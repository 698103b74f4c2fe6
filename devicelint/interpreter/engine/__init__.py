"""The walk itself: frames, memory, budget, tables of handlers. It knows no Python and no torch."""
