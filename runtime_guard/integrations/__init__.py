"""Guards inside the loops of others: trainers, engines, and runs of pytest."""
