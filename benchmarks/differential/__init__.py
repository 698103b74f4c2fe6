"""Programs written by chance, run on virtual GPUs, and read by the linter: who is wrong?"""
