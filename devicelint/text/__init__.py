"""The text of a file: its bytes, lines, comments, tree, and places."""
