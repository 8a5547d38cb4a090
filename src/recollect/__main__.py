"""`python -m recollect`: the command line."""

import sys

from recollect.doors.cli.starting import main

if __name__ == "__main__":
    sys.exit(main())
