"""What stands in for values that nobody knows."""
