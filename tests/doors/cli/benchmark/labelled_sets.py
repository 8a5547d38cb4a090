"""A tiny labelled set, whose scores can be worked out by hand."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

Line = Mapping[str, object]

UNITS: tuple[Line, ...] = (
    {"ns": "a", "id": "u1", "session": "s1", "speaker": "Ann", "text": "The kingfisher nests by the river"},
    {"ns": "a", "id": "u2", "session": "s1", "speaker": "Bob", "text": "My piano is out of tune"},
    {"ns": "a", "id": "u3", "session": "s2", "speaker": "user", "text": "We had lentils for dinner"},
    {"ns": "b", "id": "u1", "session": "d1", "speaker": "doc", "text": "The train leaves at nine"},
    {"ns": "b", "id": "u2", "session": "d2", "text": "A violin has four strings"},
)
QUERIES: tuple[Line, ...] = (
    {"ns": "a", "id": "q1", "category": "words", "text": "whose piano?", "gold": ["u1"], "gold_audited": ["u2"]},
    {"ns": "a", "id": "q2", "category": "words", "text": "a zebra", "gold": ["u1"], "gold_sessions": ["s1"]},
    {"ns": "b", "id": "q3", "category": "words", "text": "violin", "gold": ["u2", "u9"], "gold_sessions": ["d2"]},
    {"ns": "a", "id": "q4", "category": "words", "text": "no gold", "gold": [], "gold_sessions": []},
    {"ns": "a", "id": "q5", "category": "adversarial", "text": "piano", "gold": ["u1"], "gold_sessions": ["s1"]},
    {"ns": "a", "id": "q6", "category": "words_abs", "text": "piano", "gold": ["u1"], "gold_sessions": ["s1"]},
)


def write_set(
    folder: Path, units: Iterable[Line] = UNITS, queries: Iterable[Line] = QUERIES, *, packed: bool = False
) -> Path:
    """The folder with the set in it."""
    folder.mkdir()
    data = "".join(json.dumps(one) + "\n" for one in units).encode()
    if packed:
        (folder / "units.jsonl.gz").write_bytes(gzip.compress(data))
    else:
        (folder / "units.jsonl").write_bytes(data)
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in queries), encoding="utf-8")
    return folder
