"""A program for a change of model: `fill`, `build` and `ask` with HOME OLD NEW, and what `main` reads after them."""

import json
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread

from recollectum import Recollectum
from recollectum.domain.errors import ModelUnavailable, RecollectumError
from recollectum.domain.hit import SearchMode
from recollectum.domain.models.embedder import Purpose
from recollectum.models.search import SearchModels
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.crashes.switching_models import embedder, text

OWNER = "user:ann"
#: A text's own vector is this near to a question of the same words; another model's is nowhere near.
_SAME = 0.97


def main() -> None:
    """Do what the first argument says."""
    task, home, old, new, *rest = sys.argv[1:]
    if task == "fill":
        _fill(Path(home), old, int(rest[0]))
    elif task == "build":
        _build(Path(home), old, new, float(rest[0]), Path(rest[1]))
    else:
        _ask(Path(home), old, new, int(rest[0]), rest[1])


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def _fill(home: Path, old: str, count: int) -> None:
    with Recollectum(home, embedder=embedder(old)) as r:
        vault = r.vault(OWNER)
        for start in range(0, count, 1000):
            numbers = range(start, min(start + 1000, count))
            vault.memories.save_many([Draft(content=text(number)) for number in numbers])
        vault.admin.index.update()


def _build(home: Path, old: str, new: str, delay: float, log: Path) -> None:
    """Ask once, and say how far what goes on behind the answer has come, until the new model has taken over."""
    chosen = embedder(new, delay)

    def note(texts: Sequence[str], purpose: Purpose) -> None:
        if purpose is Purpose.PASSAGE:
            with log.open("a") as file:
                file.write("".join(f"{one}\n" for one in texts))

    chosen.fail = note
    with Recollectum(home, embedder=SearchModels(chosen, earlier=(embedder(old),))) as r:
        vault = r.vault(OWNER)
        while True:
            vault.recall(text(1))
            states = {one.state: one for one in vault.admin.index.status().generations}
            if json.loads(states["current"].identity)[1] == new:
                _say("swapped")
                return
            _say(str(states["building"].vectors if "building" in states else 0))
            time.sleep(0.02)


def _ask(home: Path, old: str, new: str, count: int, model: str) -> None:
    """Ask until a line comes, and tell what was wrong with the answers."""
    over = Event()
    _say("ready")
    sys.stdin.readline()
    Thread(target=lambda: (sys.stdin.readline(), over.set()), daemon=True).start()
    chosen = embedder(model)
    if model == new:
        # It can read questions for both, but leaves it to the other process to build.
        chosen.fail = _no_passages
    told: dict[str, list[str]] = {"failed": [], "mixed": [], "unexplained": []}
    rungs: dict[str, int] = {}
    seconds: list[float] = []
    chance = random.Random(os.getpid())
    with Recollectum(home, embedder=SearchModels(chosen, earlier=(embedder(old),))) as r:
        vault = r.vault(OWNER)
        while not over.is_set():
            began = time.perf_counter()
            rung = _question(vault, chance.randrange(count), told)
            seconds.append(time.perf_counter() - began)
            rungs[rung] = rungs.get(rung, 0) + 1
            time.sleep(0.002)
    print(json.dumps({**told, "rungs": rungs, "seconds": seconds}), flush=True)


def _no_passages(texts: Sequence[str], purpose: Purpose) -> ModelUnavailable | None:
    return ModelUnavailable(f"not for {len(texts)} passages") if purpose is Purpose.PASSAGE else None


def _question(vault: Vault, number: int, told: dict[str, list[str]]) -> str:
    """Ask for a text in its own words: it must come first, and by meaning with its own vector or with a reason."""
    try:
        found = vault.recall(text(number), limit=3)
    except RecollectumError as error:
        told["failed"].append(f"{number}: {error}")
        return "failed"
    if not found or found[0].text != text(number):
        told["failed"].append(f"{number}: not the first of {len(found)}, {found.rung}, {found.degraded}")
        return "failed"
    reasons = found[0].reasons
    if found.rung is not SearchMode.HYBRID:
        if not found.degraded:
            told["unexplained"].append(f"{number}: {found.rung}")
    elif reasons.vector_rank != 1 or (reasons.vector_score or 0) < _SAME:
        told["mixed"].append(f"{number}: rank {reasons.vector_rank}, cosine {reasons.vector_score}")
    return found.rung


if __name__ == "__main__":
    main()
