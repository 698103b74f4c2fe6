"""Programs of several processes: their ranks, groups, and calls of each other."""
