"""Writes memories into one vault until it is told to stop, and prints each that was acknowledged.

python writing_program.py HOME URL NAME
"""

import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4]))

from recollectum import Recollectum
from recollectum.domain.errors import Busy, StorageError, Undecided, Unreachable
from recollectum.vault.vault import Vault


def main(folder: str, url: str, name: str) -> None:
    """Write with a thread for each of two vaults, one shared with the other programs."""
    stop = threading.Event()
    settings = {"storage.url": url, "encryption": "off", "storage.busy_timeout_seconds": 2}
    with Recollectum(folder, settings=settings) as home:
        threads = [
            threading.Thread(target=_write, args=(home.vault(f"user:{owner}"), f"{name}{place}", stop))
            for place, owner in enumerate(("shared", name))
        ]
        for thread in threads:
            thread.start()
        sys.stdin.readline()
        stop.set()
        for thread in threads:
            thread.join()


def _write(vault: Vault, name: str, stop: threading.Event) -> None:
    chat = vault.sessions.open(channel=name)
    number = 0
    while not stop.is_set():
        number += 1
        text = f"turn {name}n{number} was said"
        try:
            chat.add("user", text)
        except (Unreachable, Busy):
            _tell(f"refused {text}")
        except Undecided:
            _tell(f"undecided {text}")
        except StorageError as error:
            _tell(f"other {error}")
        else:
            _tell(f"stored {text}")


def _tell(line: str) -> None:
    # In one piece: the other thread writes too.
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:4])
