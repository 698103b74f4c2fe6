"""Where the sentences would be downloaded from."""

URL: dict[str, str] = {}
