"""One run of the command line: its files, its processes, its filters, and where it prints."""
