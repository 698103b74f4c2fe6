"""One check: from a source to its findings, and from findings to a fixed source."""
