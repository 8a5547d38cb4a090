"""`python -m recollectum`: the command line."""

import sys

from recollectum.doors.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
