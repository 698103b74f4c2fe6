"""Where in the program something failed, in the user's terms, and what to write there."""
