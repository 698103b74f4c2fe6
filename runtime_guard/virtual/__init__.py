"""A virtual accelerator: tensors live in host memory, and obey CUDA's device rules."""
