"""A program that writes to a vault until it is killed: `HOME NAME SEED`, begins at the first line of its input."""

import json
import os
import random
import sys
from dataclasses import asdict
from pathlib import Path

from recollectum import Recollectum
from tests.crashes.ledger import Intent
from tests.crashes.scribe import Scribe


def main() -> None:
    home, name, seed = sys.argv[1:]
    os.write(1, b"ready\n")
    sys.stdin.readline()
    with Recollectum(Path(home)) as r:
        scribe = Scribe(r.vault("user:ann"), name, random.Random(seed), begin=_begin, done=_done)
        while True:
            scribe.step()


def _begin(intent: Intent) -> None:
    _say({"begin": asdict(intent)})


def _done(made: str) -> None:
    _say({"done": made})


def _say(line: object) -> None:
    # One system call: a process that is killed has said the whole line or none of it.
    os.write(1, (json.dumps(line) + "\n").encode())


if __name__ == "__main__":
    main()
