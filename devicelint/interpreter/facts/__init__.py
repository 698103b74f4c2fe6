"""What the text of a file says before anything is evaluated."""
