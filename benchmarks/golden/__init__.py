"""What devicelint says today of fixed subjects, kept line by line, so that a change shows."""
