"""Stands in for a part of tensorflow 1: the digits that it brought."""
