"""Fills one large vault for a search benchmark through the storage functions, in large transactions."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from bench.search_data import Cloud, Talk
from bench.search_embedder import OWNER, TableEmbedder
from recollectum import Recollectum
from recollectum.domain.message import Message, Role, trust_of_role
from recollectum.domain.session import Session, SessionKey
from recollectum.recall.index.chunk_index import index_message
from recollectum.recall.vectors.quantisation import quantise
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import messages, sessions
from recollectum.storage.tables.index import chunks, generations, vectors
from recollectum.storage.tables.index.generations import GenerationState
from recollectum.text.tokens import estimate
from tests.crashes.homes import only_vault

_TURNS = 20
_AT = datetime(2024, 5, 1, tzinfo=UTC)


def fill(home: Path, cloud: Cloud, talk: Talk) -> list[str]:
    """Create a vault with one turn for each vector; return the texts, in order."""
    with Recollectum(home) as r:
        # Opened by the product, so that it is a regular vault.
        r.vault(OWNER)
    said: list[str] = []
    numbers = count()
    with only_vault(home) as database:
        generation = database.write(
            lambda tx: generations.add(tx, TableEmbedder({}).identity.text_key(), GenerationState.CURRENT, _AT)
        )
        for block in cloud.blocks():
            texts = [talk.turn() for _ in range(len(block))]
            rows = quantise(block)
            database.write(lambda tx, texts=texts, rows=rows: _write(tx, generation.id, texts, rows, numbers))
            said += texts
        database.erase_remains()
    return said


def _write(tx: Tx, generation: int, texts: Sequence[str], rows: Sequence[bytes], numbers: "count[int]") -> None:
    before = chunks.last(tx)
    for start in range(0, len(texts), _TURNS):
        _converse(tx, texts[start : start + _TURNS], next(numbers))
    last = chunks.last(tx)
    # Each text is short enough to be one chunk.
    assert last - before == len(texts)
    vectors.add(tx, generation, zip(range(before + 1, last + 1), rows, strict=True))
    chunks.judge(tx, ((number, 8, number % 2 == 0, 0.0) for number in range(before + 1, last + 1)))
    generations.advance(tx, generation, last)


def _converse(tx: Tx, texts: Sequence[str], number: int) -> None:
    """Write one session with these turns."""
    key = SessionKey(channel="bench", topic=str(number))
    session = Session(id=f"ses_{number:026}", key=key, created_at=_AT, updated_at=_AT)
    sessions.insert(tx, session)
    for place, text in enumerate(texts):
        role = (Role.USER, Role.ASSISTANT)[place % 2]
        message = Message(
            id=f"msg_{number:022}{place:04}",
            session_id=session.id,
            position=place + 1,
            role=role,
            content=text,
            created_at=_AT,
            token_estimate=estimate(text),
            trust=trust_of_role(role),
        )
        index_message(tx, messages.insert(tx, message), message)
    sessions.grow(tx, session.id, messages=len(texts), tokens=0, at=_AT)
