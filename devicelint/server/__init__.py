"""The language server: what devicelint knows of a file, shown in an editor while it is written."""
