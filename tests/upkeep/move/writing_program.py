"""Saves memories in the vaults of a home, one after another, and prints each that was acknowledged."""

import os
import sys
import time
from pathlib import Path

from recollectum import Recollectum


def main() -> None:
    """Take the home, the name of this writer and the owners from the command line; end when stdin is closed."""
    root, name, owners = Path(sys.argv[1]), sys.argv[2], sys.argv[3].split(",")
    os.set_blocking(sys.stdin.fileno(), False)
    with Recollectum(root, environ=os.environ) as home:
        number = 0
        while sys.stdin.buffer.raw.read(1) is None:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            vault = home.vault(owners[number % len(owners)])
            content = f"{name} wrote number {number}"
            saved = vault.memories.save(content).memory
            # What was written is there, wherever the vault is by now.
            assert vault.memories.get(saved.id).content == content
            print(f"{owners[number % len(owners)]} {content}", flush=True)
            number += 1
            # Leave the processor to the move.
            time.sleep(0.02)


if __name__ == "__main__":
    main()
