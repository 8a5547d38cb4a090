"""A program that opens a home for each write and says every write that was acknowledged: `HOME COUNT`."""

import sys
from pathlib import Path

from recollectum import Recollectum


def main() -> None:
    home, count = Path(sys.argv[1]), int(sys.argv[2])
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        with Recollectum(home) as r:
            saved = r.vault("user:ann").memories.save(f"write {number} of another process")
        print(saved.memory.content, flush=True)


if __name__ == "__main__":
    main()
