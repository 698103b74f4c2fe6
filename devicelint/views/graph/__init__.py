"""A program as a picture of its devices: which value is where, and what moves it there."""

from devicelint.views.graph.chart import Chart, Kind, Move, Read, Sight, Value
from devicelint.views.graph.listening import Charting

__all__ = ["Chart", "Charting", "Kind", "Move", "Read", "Sight", "Value"]
