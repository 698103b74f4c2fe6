"""What torch does to devices: a module for each part of torch."""
