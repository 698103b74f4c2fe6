"""The abstract world: devices, values, places, state and history.

Frozen values that know neither libcst nor torch and do no input or output.
"""
