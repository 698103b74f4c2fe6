"""Comments that suppress findings: those that are written, and those that suppress nothing."""
