"""What the pages of devicelint and runtime_guard share: markup, the frame of a page, its style.

Neither package may import the other, so this one lies beside them. It imports neither.
"""
