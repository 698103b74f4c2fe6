"""Brings real scripts and notebooks to the device pattern, and runs what comes out."""
