"""`python -m runtime_guard` runs a script under the guard."""

import sys

from runtime_guard.launcher.cli import main

if __name__ == "__main__":
    sys.exit(main())
