"""Merges bob into alice, or undoes it, and stands still before one statement, to be killed there."""

import sys
from pathlib import Path

import apsw

from tests.matrix.homes import Turning, open_home

_CHANGES = ("INSERT INTO merge", "UPDATE identities", "UPDATE grants", "UPDATE api_keys", "UPDATE merges")


def main(folder: str, what: str, stop_at: int) -> None:
    """Stand still before change `stop_at`, counted from 1, in the middle of the transaction; at 0, go through."""
    begun = 0

    def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
        nonlocal begun
        if sql.strip().startswith(_CHANGES):
            begun += 1
            if begun == stop_at:
                print("inside", flush=True)
                sys.stdin.read()
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    apsw.connection_hooks.append(hook)
    with open_home(Path(folder), Turning()) as home:
        if what == "merge":
            token = home.people.preview_merge("user:alice", "user:bob").token
            home.people.merge("user:alice", "user:bob", token)
        else:
            home.people.unmerge(home.people.list_merges()[-1].id)
    print(f"changes {begun}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
