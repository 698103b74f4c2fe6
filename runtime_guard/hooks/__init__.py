"""Guards: the hooks, what they do about a mismatch, and for how many steps."""
