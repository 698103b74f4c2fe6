"""How torch behaves with CUDA devices, checked on a real one or on the virtual GPU."""
