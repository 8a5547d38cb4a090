"""`python -m recollectum.doors.hook`: what the agents' configurations call, because it imports almost nothing."""

import sys

from recollectum.doors.hook.client import main

if __name__ == "__main__":
    main(sys.argv[1:])
