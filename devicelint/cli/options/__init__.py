"""What can be said on the command line: the parsers of commands, and the options they share."""
