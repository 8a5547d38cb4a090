"""Makes 100 backups during heavy writes: how many restore, read completely, and hold what was acknowledged."""

import tempfile
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from tests.crashes.storming import storm

_BACKUPS = sized(100, 2)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        result = storm(Path(folder), backups=_BACKUPS)
    print(result.line())
    for one in result.wrong[:20]:
        print(f"  {one}")
