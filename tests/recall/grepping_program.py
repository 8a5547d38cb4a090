"""A program that looks through every file under a folder: `FOLDER SECRET …`, in hex after 0x; one line for each hit.

It is a process of its own, because a process that opens a live database file itself drops SQLite's locks on it.
"""

import sys
from pathlib import Path


def main() -> None:
    folder, *secrets = sys.argv[1:]
    for path in sorted(Path(folder).rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        for secret in secrets:
            looked_for = bytes.fromhex(secret[2:]) if secret.startswith("0x") else secret.encode()
            if looked_for in content:
                print(f"{secret} in {path.name}")


if __name__ == "__main__":
    main()
