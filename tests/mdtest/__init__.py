"""Pages that are documentation and test at once; `README.md` beside this file is the notation."""
