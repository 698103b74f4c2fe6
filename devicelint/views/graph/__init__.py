"""A program as a picture of its devices: which value is where, and what moves it there."""

from devicelint.views.graph.chart import Chart, MoveEdge, NodeKind, Read, Sight, Value
from devicelint.views.graph.listening import Charting

__all__ = ["Chart", "Charting", "MoveEdge", "NodeKind", "Read", "Sight", "Value"]
