"""What is asked about the files of a project: what the programs around one do."""

from __future__ import annotations

CHOOSES = "chooses"
"""A file around that chooses the machine."""
LEADS = "leads"
"""A file that chooses the machine, of a program that imports the file."""
TAKES = "takes"
"""A program that imports the file, or the file itself, which goes to an accelerator in any case."""
LETS = "lets"
"""A file around, or the file itself, that goes to a device that somebody names."""
DEFAULTS = "defaults"
"""A file of the project that sets the device of tensors that are given none."""
STARTS = "starts"
"""A program around, or the file itself, where it is one."""
ON_CPU = "on the CPU"
"""A program around, or the file itself, of a project that trains and never leaves the CPU."""
APART = "apart"
"""The file itself, where it lies alone and is no program: nothing says who uses it."""
TESTED = "tested"
"""A test beside the file, which tests something else, where nothing but tests imports the file."""

AT_TIMES = "at times"
"""A file that imports the file under a condition, where none imports it in any case."""
BUILDS = "builds"
"""The file itself, where it cannot be imported without what CUDA's compiler makes."""
IMPORTED = "imported"
"""A file that imports the file, and is no test."""

PROGRAM = "program"
"""A program of the project, whatever it uses."""
ASKED = "asked"
"""A file that imports the file, where all that do go by what the machine has, and by no name."""

RUNS = "runs"
"""The file itself, where it is a program or a test: what it makes go wrong elsewhere is found."""
LEADING = tuple(f"leading {number}" for number in range(8))
"""The programs and tests that import the file, one for each question: the nearest are asked."""
