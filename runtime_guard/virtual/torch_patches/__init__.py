"""Parts of torch that see devices without a call that a mode sees."""
