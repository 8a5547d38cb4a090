"""Syncs the transcripts of alice's vault, and stands still before it stores one message, to be killed there."""

import sys
from pathlib import Path

import apsw

from recollectum import Recollectum


def main(home: str, stop_at: int) -> None:
    """Stand still before message `stop_at`, counted from 1, in the middle of its transaction; at 0, go through."""
    begun = 0

    def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
        nonlocal begun
        if "INSERT INTO messages" in sql:
            begun += 1
            if begun == stop_at:
                print("inside", flush=True)
                sys.stdin.read()
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    if stop_at:
        apsw.connection_hooks.append(hook)
    with Recollectum(Path(home), settings={"encryption": "off"}) as r:
        report = r.vault("user:alice").admin.transcripts.sync()
    print(f"added {report.added}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
