"""Each call of torch: who handles it, and what CUDA would allow or refuse."""
