"""Which path the walk is on: what its conditions have asked, and what that says of values."""
