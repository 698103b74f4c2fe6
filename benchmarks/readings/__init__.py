"""First readings: how much is right of what is found in repositories that nobody had opened."""
