"""Stands in for gymnasium as it does for gym."""

from gym import Environment, Space, make

__all__ = ["Environment", "Space", "make"]
