"""Functions that are called with a tensor and of which devicelint does not know what they give."""
