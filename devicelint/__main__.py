"""`python -m devicelint` is `devicelint`."""

import sys

from devicelint.cli import main

if __name__ == "__main__":
    sys.exit(main())
