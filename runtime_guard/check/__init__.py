"""Do a module's inputs lie where the module does: the rules, free of any hook."""
