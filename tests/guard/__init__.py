"""Tests of runtime_guard."""
