"""A recording as a page."""
