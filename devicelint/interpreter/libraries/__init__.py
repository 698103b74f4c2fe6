"""What the libraries around torch do to devices."""
