"""What the standard library does to values: argparse, collections and copies, processes."""
