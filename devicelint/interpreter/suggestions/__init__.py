"""What fixes are written with: device expressions, names, moves."""
