"""`devicelint map`: a script, its devices and what moves between them, on one page."""

from devicelint.map.drawing import draw
from devicelint.map.model import Map, RecordedRun
from devicelint.map.page import render
from devicelint.map.recording import Recording, read_recording, together

__all__ = ["Map", "RecordedRun", "Recording", "draw", "read_recording", "render", "together"]
