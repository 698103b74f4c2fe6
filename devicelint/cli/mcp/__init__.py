"""The server that gives coding agents devicelint's commands as tools."""
