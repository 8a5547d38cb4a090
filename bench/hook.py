"""Measures how long `recollectum hook` makes an agent wait: with a worker, with a daemon, and with neither.

A prompt may be delayed by 300 ms at most, from the start of the process to its end; what is not ready by then is left
out. Each is shown beside the time of a Python process that does nothing.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.vault.intake.draft import Draft
from tests.doors.hook.calls import Answered, attended, call, event, no_attendant_left
from tests.doors.server.daemons import daemon

_CALLS = sized(40, 3)
_LIMIT_MS = 300
_MEMORIES = sized(1000, 20)


def main() -> None:
    """Print the waits of prompts in each case."""
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        os.environ["RECOLLECTUM_HOME"] = str(Path(folder) / "home")
        os.environ["RECOLLECTUM_USER"] = "ada"
        with Recollectum() as r:
            drafts = (Draft(content=f"the dinner number {n} is on day {n % 28}") for n in range(_MEMORIES))
            r.vault("user:ada").memories.save_many(drafts)
        print("| case | prompts with context | p50 ms | p95 ms | most ms | over 300 ms |\n|---|---|---|---|---|---|")
        idle = [_timed(_nothing) * 1000 for _ in range(_CALLS)]
        print(f"| a process that does nothing | – | {median(idle):.0f} | {quantiles(idle, n=20)[-1]:.0f} | – | – |")
        with no_attendant_left():
            _show("the first event of all", [_ask(0)])
            attended()
            _show("an attendant at hand", [_ask(number) for number in range(_CALLS)])
        with daemon():
            _ask(0)
            _show("a daemon", [_ask(number) for number in range(_CALLS)])


def _ask(number: int) -> Answered:
    return call(event("UserPromptSubmit", prompt=f"when is the dinner number {number}?"))


def _show(case: str, answers: list[Answered]) -> None:
    waits = [answer.seconds * 1000 for answer in answers]
    told = sum(bool(answer.context) for answer in answers)
    tail = quantiles(waits, n=20)[-1] if len(waits) > 1 else waits[0]
    over = sum(wait > _LIMIT_MS for wait in waits)
    print(
        f"| {case} | {told} of {len(answers)} | {median(waits):.0f} | {tail:.0f} | {max(waits):.0f} | {over} |",
        flush=True,
    )


def _nothing() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def _timed(work: Callable[[], None]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


if __name__ == "__main__":
    main()
