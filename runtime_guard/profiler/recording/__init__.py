"""Copies between host and devices, recorded as they happen, and read back."""
