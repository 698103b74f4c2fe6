"""The walk itself: state, frames, worlds, tables of handlers. It knows no Python and no torch."""
