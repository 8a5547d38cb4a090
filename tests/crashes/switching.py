"""A change of model on a vault that is asked all the time, by a process that is killed again and again."""

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.models.embedder import Purpose
from recollectum.models.search import SearchModels
from recollectum.recall.vectors.quantisation import quantise
from recollectum.recall.vectors.vector_search import STEP
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import chunks, generations, vectors
from recollectum.storage.tables.index.generations import GenerationState
from recollectum.vault.index import GenerationStatus
from tests.crashes.homes import only_vault
from tests.crashes.programs import finish, hear, kill, run, start, tell
from tests.crashes.switching_models import embedder, text
from tests.crashes.switching_program import OWNER

_PROGRAM = "tests.crashes.switching_program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toll:
    """What a change of model cost."""

    pieces: int
    #: Questions by the rung that answered them.
    rungs: dict[str, int]
    #: Each in words: no answer or a wrong one; vectors of one model read by another; by words alone without a reason.
    failed: list[str]
    mixed: list[str]
    unexplained: list[str]
    #: Pieces without their own vector in either generation at the end.
    lost: int
    #: Times that a kill set the new generation back.
    set_back: int
    #: Pieces that were embedded twice, and the most that the kills allow.
    repeated: int
    repeated_at_most: int
    #: Calls for passages to go back to the old model, and then to the new one again.
    calls_back: int
    switch_seconds: float
    rollback_seconds: float
    #: How long a question took during the change, shortest first.
    seconds: list[float]

    @property
    def clean(self) -> bool:
        """Whether nothing was lost, mixed, refused or done in vain."""
        wrong = (*self.failed, *self.mixed, *self.unexplained)
        return not (wrong or self.lost or self.set_back or self.calls_back or self.repeated > self.repeated_at_most)

    @property
    def questions(self) -> int:
        """How many were asked."""
        return sum(self.rungs.values())

    def within(self, share: float) -> float:
        """The time within which that share of the questions was answered."""
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * share))]


@dataclass(frozen=True, slots=True)
class ModelChange:
    """The models of a change; of the vectors at the end one in `checked` is computed again."""

    old: str = "old"
    new: str = "new"
    delay: float = 0.0
    checked: int = 1

    def call(self, task: str, home: Path, *more: object) -> list[str]:
        """Return the command line of the program for one task."""
        return [_PROGRAM, task, str(home), self.old, self.new, *map(str, more)]


def switch(
    folder: Path,
    *,
    count: int,
    kills: int,
    seed: int,
    askers: Sequence[bool],
    models: ModelChange,
    progress: Callable[[str], None] = lambda _: None,
) -> Toll:
    """Fill a vault, change its model under a storm of questions with kills, go back, and count.

    `askers` says of each process that asks whether it has the new model in its settings.
    """
    home, log, old, new = folder / "home", folder / "embedded.log", models.old, models.new
    progress(f"{old} embeds {count} texts")
    run(*models.call("fill", home, count))
    asking = [start(*models.call("ask", home, count, new if changed else old)) for changed in askers]
    for child in asking:
        assert hear(child) == "ready"
        tell(child, "go")
    began = time.perf_counter()
    progress(f"{new} takes over while {len(asking)} processes ask")
    set_back = _change(home, log, count, kills, models, random.Random(seed))
    took = time.perf_counter() - began
    time.sleep(min(1.0, took / 10))
    for child in asking:
        tell(child, "stop")
    told = [json.loads(line) for child in asking for line in finish(child)]
    progress("the vectors are checked, then the old model comes back and the new one again")
    _calls(home, new)
    lost = _lost(home, models.checked)
    began = time.perf_counter()
    with Recollectum(home, embedder=SearchModels(embedder(new), earlier=(embedder(old),))) as r:
        r.vault(OWNER).admin.index.rollback()
    rollback_seconds = time.perf_counter() - began
    # What was written since the old model was asked last is all that it may be asked for.
    calls_back = max(0, _calls(home, old) - kills) + _calls(home, new) + _calls(home, old)
    rungs: Counter[str] = Counter()
    for one in told:
        rungs.update(one["rungs"])
    return Toll(
        pieces=count + kills,
        rungs=dict(rungs),
        failed=[line for one in told for line in one["failed"]],
        mixed=[line for one in told for line in one["mixed"]],
        unexplained=[line for one in told for line in one["unexplained"]],
        lost=lost + _lost(home, models.checked),
        set_back=set_back,
        repeated=sum(times - 1 for times in Counter(log.read_text().splitlines()).values()),
        repeated_at_most=kills * STEP,
        calls_back=calls_back,
        switch_seconds=took,
        rollback_seconds=rollback_seconds,
        seconds=sorted(second for one in told for second in one["seconds"]),
    )


def _change(home: Path, log: Path, count: int, kills: int, models: ModelChange, chance: random.Random) -> int:
    """Have the new model take over, by one process after the other that is killed; how often a kill set it back."""
    set_back = 0
    for number in range(kills):
        child = start(*models.call("build", home, models.delay, log))
        reached = _until(child, count * (number + chance.uniform(0.3, 0.9)) / (kills + 1))
        kill(child)
        set_back += _built(home) < reached
        _write(home, count + number)
    child = start(*models.call("build", home, models.delay, log))
    assert finish(child)[-1] == "swapped"
    return set_back


def _until(child: subprocess.Popen[str], enough: float) -> int:
    """Listen to a process that builds until it has come so far."""
    while True:
        said = hear(child)
        assert said != "swapped", "the kill came too late to prove anything"
        if int(said) >= max(1.0, enough):
            return int(said)


def _built(home: Path) -> int:
    def look(tx: Tx) -> int:
        found = generations.find(tx, GenerationState.BUILDING)
        return vectors.count(tx, found.id) if found else 0

    with only_vault(home) as database:
        return database.read(look)


def _write(home: Path, number: int) -> None:
    """Somebody goes on remembering."""
    with Recollectum(home, settings={"embedding.provider": "none"}) as r:
        r.vault(OWNER).memories.save(text(number))


def _calls(home: Path, model: str) -> int:
    """How many passages a model is asked for to be the current one and up to date."""
    chosen = embedder(model)
    with Recollectum(home, embedder=chosen) as r:
        vault = r.vault(OWNER)
        vault.admin.index.update()
        found = vault.recall(text(1), limit=1)
        assert (found[0].text, found.degraded) == (text(1), None), f"{found.rung}: {found.degraded}"
        assert json.loads(_current(vault.admin.index.status().generations))[1] == model
    return len(chosen.passages)


def _current(every: Iterable[GenerationStatus]) -> str:
    return next(one.identity for one in every if one.state == "current")


def _lost(home: Path, checked: int) -> int:
    """Pieces of the current generation that have no vector, or of one in so many another than their text's."""

    def look(tx: Tx) -> int:
        generation = generations.find(tx, GenerationState.CURRENT)
        assert generation is not None
        texts = {row[0]: row[1] for row in chunks.after(tx, 0, 10_000_000)}
        kept = dict(vectors.after(tx, generation.id, 0))
        again = dict(list(texts.items())[::checked])
        made = embedder(json.loads(generation.identity)[1]).embed(list(again.values()), Purpose.PASSAGE)
        wrong = {number for number, data in zip(again, quantise(made), strict=True) if kept.get(number) != data}
        return len(wrong | (texts.keys() - kept.keys()))

    with only_vault(home) as database:
        return database.read(look)
