"""Guards the tests of a project: see `--device-guard`."""
