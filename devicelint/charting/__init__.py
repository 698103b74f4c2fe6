"""A program as a picture of its devices: which value is where, and what moves it there."""

from devicelint.charting.chart import Chart, Kind, Move, Read, Sight, Value
from devicelint.charting.listening import Charting

__all__ = ["Chart", "Charting", "Kind", "Move", "Read", "Sight", "Value"]
