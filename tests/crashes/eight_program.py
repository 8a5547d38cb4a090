"""A program that writes to a vault with others and looks for what all wrote: HOME QUEUE OF SECONDS SOON NUMBER."""

import json
import os
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.domain.hit import Hit, RecallResult
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.vault import Vault


@dataclass(slots=True)
class Told:
    """What one process did, and what was wrong."""

    #: How soon a write must be found by meaning, in seconds.
    soon: float
    writes: int = 0
    others: int = 0
    failed: list[str] = field(default_factory=list[str])
    not_by_text: list[str] = field(default_factory=list[str])
    not_by_meaning: list[str] = field(default_factory=list[str])
    write_seconds: list[float] = field(default_factory=list[float])
    text_seconds: list[float] = field(default_factory=list[float])
    meaning_seconds: list[float] = field(default_factory=list[float])


def main() -> None:
    """Say `ready`, wait for a line so that all begin together, and do it."""
    home, queue, of, seconds, soon, number = sys.argv[1:]
    os.write(1, b"ready\n")
    sys.stdin.readline()
    with Recollectum(Path(home), embedder=ScriptedEmbedder(dimensions=128)) as r:
        told = Told(soon=float(soon))
        _go(r.vault("user:ann"), Path(queue), int(number), int(of), float(seconds), told)
    print(json.dumps(asdict(told)), flush=True)


def _go(vault: Vault, queue: Path, number: int, of: int, seconds: float, told: Told) -> None:
    chat, read_to = vault.sessions.open(), 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        text = f"parcel {number}q{told.writes} went to street {told.writes * 7919 + number}"
        try:
            began = time.time()
            if told.writes % 2:
                chat.add("user", text, speaker="Ann")
            else:
                vault.memories.save(text)
            acknowledged = time.time()
            told.writes += 1
            told.write_seconds.append(acknowledged - began)
            _append(queue, {"by": number, "text": text, "at": acknowledged})
            _look(vault, text, acknowledged, told)
            lines, read_to = _read(queue, read_to)
            theirs = [line for line in lines if line["by"] == (number + 1) % of]
            if theirs:
                told.others += 1
                _look(vault, str(theirs[-1]["text"]), float(str(theirs[-1]["at"])), told)
        except RecollectumError as error:
            told.failed.append(f"{text}: {error}")


def _look(vault: Vault, text: str, acknowledged: float, told: Told) -> None:
    """A text must be found by its words now, and by meaning soon."""
    began = time.time()
    found = vault.recall(text, limit=5)
    hit = _of(found, text)
    if hit is None or hit.reasons.text_rank is None:
        told.not_by_text.append(f"{text}: {found.rung}, {found.degraded}, {len(found)} hits")
        return
    told.text_seconds.append(time.time() - began)
    while hit is None or hit.reasons.vector_rank is None:
        if time.time() > max(acknowledged, began) + told.soon:
            told.not_by_meaning.append(f"{text}: {found.rung}, {found.degraded}")
            return
        time.sleep(0.01)
        found = vault.recall(text, limit=5)
        hit = _of(found, text)
    told.meaning_seconds.append(time.time() - began)


def _of(found: RecallResult, text: str) -> Hit | None:
    return next((hit for hit in found if hit.text == text), None)


def _append(queue: Path, line: dict[str, object]) -> None:
    # One write at the end of the file, so that lines of several processes never run into each other.
    file = os.open(queue, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, f"{json.dumps(line)}\n".encode())
    finally:
        os.close(file)


def _read(queue: Path, read_to: int) -> tuple[list[dict[str, object]], int]:
    data = queue.read_bytes()[read_to:]
    whole = data[: data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()], read_to + len(whole)


if __name__ == "__main__":
    main()
