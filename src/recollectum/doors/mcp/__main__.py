"""`python -m recollectum.doors.mcp`: the stdio server, for starting it without the command line program."""

import sys

from recollectum.doors.mcp.stdio_main import parse_stdio_flags, serve_stdio

if __name__ == "__main__":
    line = parse_stdio_flags(["mcp", *sys.argv[1:]])
    if line is None:
        sys.exit(
            "recollectum: usage: python -m recollectum.doors.mcp [--user NAME] [--home PATH] [--profile default|graph]"
        )
    sys.exit(serve_stdio(line))
