"""The files of a run: which there are, what they import, how they are written."""
