"""The commands of the command line: a module each, or several that print alike."""
