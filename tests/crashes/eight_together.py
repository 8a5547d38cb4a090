"""Several processes that write to one vault and look for what any of them wrote."""

import json
from dataclasses import dataclass
from pathlib import Path

from recollectum import Recollectum
from tests.crashes.programs import finish, hear, start, tell

_PROGRAM = "tests.crashes.eight_program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What all of them did, and what was wrong."""

    writes: int
    #: How many of another one's writes were looked for.
    others: int
    failed: list[str]
    not_by_text: list[str]
    not_by_meaning: list[str]
    #: Shortest first.
    write_seconds: list[float]
    text_seconds: list[float]
    meaning_seconds: list[float]

    @property
    def clean(self) -> bool:
        """Whether every write was found, in time."""
        return not (self.failed or self.not_by_text or self.not_by_meaning)


def write_together(folder: Path, *, processes: int, seconds: float, soon: float) -> Together:
    """Let processes write and search one vault for some seconds; each write must be found by meaning `soon`."""
    home, queue = folder / "home", folder / "queue"
    queue.touch()
    with Recollectum(home, settings={"embedding.provider": "none"}) as r:
        r.vault("user:ann")
    common = (str(home), str(queue), str(processes), str(seconds), str(soon))
    children = [start(_PROGRAM, *common, str(one)) for one in range(processes)]
    for child in children:
        assert hear(child) == "ready"
    for child in children:
        tell(child, "go")
    told = [json.loads(line) for child in children for line in finish(child)]
    return Together(
        writes=sum(one["writes"] for one in told),
        others=sum(one["others"] for one in told),
        failed=[line for one in told for line in one["failed"]],
        not_by_text=[line for one in told for line in one["not_by_text"]],
        not_by_meaning=[line for one in told for line in one["not_by_meaning"]],
        write_seconds=sorted(second for one in told for second in one["write_seconds"]),
        text_seconds=sorted(second for one in told for second in one["text_seconds"]),
        meaning_seconds=sorted(second for one in told for second in one["meaning_seconds"]),
    )


def within(seconds: list[float], share: float) -> float:
    """The time within which that share was done."""
    return seconds[min(len(seconds) - 1, int(len(seconds) * share))] if seconds else 0.0
