"""The virtual machine in other threads and processes."""
