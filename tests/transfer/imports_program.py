"""Imports a file into ann's vault, and says how much was added and how much memory it took.

With a number it stands still before that transaction that stores messages, to be killed there.
"""

import resource
import sys
from pathlib import Path

import apsw

from recollectum import Recollectum


def _most_memory() -> int:
    """The most memory that this program took, in MiB."""
    try:
        # What `getrusage` says begins with the memory of the program that started this one.
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024


def main(home: str, path: str, stop_at: int) -> None:
    """Import, or stand still before transaction `stop_at`, counted from 1; at 0, go through."""
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
        vault = r.vault("user:ann")
        base = _most_memory()
        done = vault.admin.imports.run(vault.admin.imports.preview([path]))
    added = sum(one.added for one in done.files)
    print(f"added {added} import {done.import_id} base {base} most {_most_memory()}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
