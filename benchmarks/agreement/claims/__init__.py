"""What devicelint says of the expressions of a file: their devices, symbols, kinds, and why not."""
