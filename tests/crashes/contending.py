"""Several processes that begin at the same moment on one home, and what each of them tells afterwards."""

import json
from dataclasses import dataclass
from pathlib import Path

from recollectum import Recollectum
from tests.crashes.contending_program import KEY
from tests.crashes.programs import finish, hear, start, tell

_PROGRAM = "tests.crashes.contending_program"


@dataclass(frozen=True, slots=True)
class Count:
    """How a memory was counted up by several processes."""

    final: int
    conflicts: int
    #: Calls that gave up because others were writing.
    busy: int
    #: How long each successful write took, shortest first.
    seconds: list[float]

    def within(self, share: float) -> float:
        """The time within which that share of the writes was done."""
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * share))]


def together(task: str, home: Path, *, processes: int, times: int) -> list[dict[str, object]]:
    """Let processes do the same thing at once; what each tells."""
    children = [start(_PROGRAM, task, str(home), f"p{number}", str(times)) for number in range(processes)]
    for child in children:
        assert hear(child) == "ready"
    for child in children:
        tell(child, "go")
    return [json.loads(line) for child in children for line in finish(child)]


def count_together(home: Path, *, processes: int, times: int) -> Count:
    """Let processes count one memory up, each reading before it writes."""
    with Recollectum(home) as r:
        r.vault("user:ann").memories.save("the counter stands at 0", key=KEY)
    told = together("count", home, processes=processes, times=times)
    with Recollectum(home) as r:
        memory = r.vault("user:ann").memories.find(KEY)
    assert memory is not None
    return Count(
        final=int(memory.content.rpartition(" ")[2]),
        conflicts=sum(_number(one["conflicts"]) for one in told),
        busy=sum(_number(one["busy"]) for one in told),
        seconds=sorted(second for one in told for second in _numbers(one["seconds"])),
    )


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _numbers(value: object) -> list[float]:
    assert isinstance(value, list)
    return [float(one) for one in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
