"""Notes of every expression that gives a tensor or a module where that was, while a program runs.

The programs are those of chosen folders, and the notes come from their own text: each expression
is compiled into a call that notes its value and gives it back.  This package is imported into
processes of other programs: it needs nothing but the standard library.
"""
