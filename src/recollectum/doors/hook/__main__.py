"""`python -m recollectum.doors.hook`: what the agents' configurations call, because it imports almost nothing."""

import os
import sys

from recollectum.doors.hook.client import main
from recollectum.home.core_dumps import forbid_core_dumps

if __name__ == "__main__":
    forbid_core_dumps(os.environ)
    main(sys.argv[1:])
