"""What a project remembers of its files: their trees, and what was found out of them."""
