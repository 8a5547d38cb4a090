"""Saves tasks: until it is killed at a call, in a race with another process, or while its memory is measured.

kill HOME WORKSPACE CALL     save the workspace and die at this call that changes the store; 0 counts the calls
race HOME NAME TIMES         add to a counter in one task so many times, each as a compare and swap
memory HOME WORKSPACE TARGET save and load a workspace, and print by how many MiB the memory grew
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from recollectum import Recollectum
from recollectum.domain.errors import Conflict
from recollectum.vault.task_store import transfer

_CHANGES = ("os.link", "os.remove", "os.mkdir", "os.rmdir", "os.rename")


def kill(home: str, workspace: str, at: str) -> None:
    transfer.PART_BYTES = 65536  # pyright: ignore[reportAttributeAccessIssue]
    with Recollectum(home) as opened:
        tasks = opened.vault("user:ada").tasks
        counted, limit = [0], int(at)

        def count(*_: object) -> None:
            counted[0] += 1
            if counted[0] == limit:
                os.kill(os.getpid(), signal.SIGKILL)

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_WRONLY
            if event in _CHANGES or writes:
                count()

        sync = os.fsync

        def fsync(file: int) -> None:
            # Before and after: what was written may be there or not.
            count()
            sync(file)
            count()

        os.fsync = fsync
        sys.addaudithook(hook)
        tasks.save_workspace("t", workspace, {"new": True})
        print(counted[0])


def race(home: str, name: str, times: str) -> None:
    lost = 0
    with Recollectum(home) as opened:
        tasks = opened.vault("user:ada").tasks
        for _ in range(int(times)):
            while True:
                known = tasks.get("counter")
                counts = {key: int(str(value)) for key, value in known.data.items()}
                try:
                    tasks.save("counter", {**counts, name: counts.get(name, 0) + 1}, version=known.version)
                except Conflict:
                    lost += 1
                    continue
                break
    print(lost)


def memory(home: str, workspace: str, target: str) -> None:
    with Recollectum(home) as opened:
        tasks = opened.vault("user:ada").tasks
        small = Path(target).with_name("small")
        small.mkdir()
        (small / "file").write_bytes(os.urandom(100))
        # What is loaded only once does not count.
        tasks.save_workspace("small", small)
        tasks.extract("small", Path(target).with_name("small-again"))
        before = _peak_mib()
        tasks.save_workspace("t", workspace)
        tasks.extract("t", target)
        print(_peak_mib() - before)


def _peak_mib() -> float:
    # Not by getrusage: on Linux a program starts with the peak of the one that started it, which is pytest.
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    {"kill": kill, "race": race, "memory": memory}[sys.argv[1]](*sys.argv[2:])
