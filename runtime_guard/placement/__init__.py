"""Where a model's tensors lie, and what was left behind."""
