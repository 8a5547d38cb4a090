"""A program that looks through every byte of every file under a folder: `FOLDER WORD …`; one line for each hit.

It is a process of its own, because a process that opens a live database file itself drops SQLite's locks on it.
"""

import sys
from pathlib import Path


def main() -> None:
    folder, *words = sys.argv[1:]
    for path in sorted(Path(folder).rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        for word in words:
            if word.encode() in content:
                print(f"{word} in {path.name}")


if __name__ == "__main__":
    main()
