"""Guards PyTorch training runs: every module call finds its inputs on the module's device."""
