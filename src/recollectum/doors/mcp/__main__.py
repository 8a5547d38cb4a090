"""`python -m recollectum.doors.mcp`: the stdio server, for starting it without the command line program."""

import os
import sys

from recollectum.doors.mcp.stdio_main import parse_stdio_flags, serve_stdio
from recollectum.home.core_dumps import forbid_core_dumps

if __name__ == "__main__":
    forbid_core_dumps(os.environ)
    line = parse_stdio_flags(["mcp", *sys.argv[1:]])
    if line is None:
        sys.exit(
            "recollectum: usage: python -m recollectum.doors.mcp [--user NAME] [--home PATH] [--profile default|graph]"
        )
    sys.exit(serve_stdio(line))
