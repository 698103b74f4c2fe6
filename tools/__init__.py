"""What the repository needs to build and show itself; no part of the distribution."""
