"""Conclusions about a whole walk that one rule or two ask for."""
