"""Runs what is unguarded, with errors explained."""

import sys

import runtime_guard
from tests.guard.jobs.plain import main

if __name__ == "__main__":
    with runtime_guard.explain():
        main(*sys.argv[1:])
