"""What holds other values: lists, dicts, tuples and streams."""
