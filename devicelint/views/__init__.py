"""What can be shown of a file besides its findings: where values are, why, and as a picture."""
