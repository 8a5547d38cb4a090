"""Laws of recall: any text is a legal query, a text is found by its words, and every hit says where it came from."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import Hit, SourceKind
from recollectum.text.cleaning import clean
from recollectum.text.terms.analyser import query_terms
from recollectum.text.terms.similarity import fingerprint
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home, quick_folder

pytestmark = pytest.mark.slow

ANY = st.characters() | st.characters(categories=["Cs"])
HARD = st.sampled_from(
    [
        "日本",
        "語",
        "👨‍👩‍👧",
        "e\u0301",
        "C++",
        ".NET",
        "a@b.co",
        "it's",
        '"',
        "*",
        "(",
        "NEAR",
        "AND",
        "\0",
        "1,000",
        " ",
    ]
)
TEXTS = st.text(ANY, max_size=200) | st.lists(HARD, max_size=12).map(" ".join)
#: Long enough to be cut into pieces; described by two numbers, which are quick to make smaller.
LONG = st.tuples(st.integers(20, 120), st.sampled_from([" ", "\n\n"])).map(
    lambda how: how[1].join(f"rain {number} fell on the plain 日本語 C++" for number in range(how[0]))
)


@pytest.fixture(scope="module")
def vault() -> Iterator[Vault]:
    with quick_folder() as folder, open_home(folder, Turning()) as home:
        yield home.vault("user:alice")


def _row(vault: Vault, hit: Hit) -> str:
    """The text that a hit cites, read by the ids and nothing else."""
    source = hit.source
    if source.kind is SourceKind.MEMORIES:
        return vault.memories.get(source.memory_id or "").content
    said = vault.sessions.chat(source.session_id or "").transcript(cursor=str((source.position or 0) - 1), limit=1)
    assert said[0].id == source.message_id
    return said[0].text


def _cites(vault: Vault, hit: Hit) -> None:
    assert hit.text == _row(vault, hit)[hit.source.start : hit.source.end] != ""
    assert hit.author
    assert hit.trust
    assert hit.created_at.tzinfo is not None
    assert 0 < hit.score < 1


@given(TEXTS)
@settings(max_examples=400)
@pytest.mark.feature("G11")
def test_any_text_is_a_legal_query(vault: Vault, query: str) -> None:
    for hit in vault.recall(query):
        _cites(vault, hit)


@given(TEXTS | LONG, st.integers(0, 1000))
@settings(max_examples=60)
@pytest.mark.feature("G11")
@pytest.mark.feature("A12")
def test_a_saved_text_is_found_by_each_of_its_words(vault: Vault, text: str, which: int) -> None:
    try:
        memory = vault.memories.save(text).memory
    except InvalidInput:
        assert not clean(text).strip()
        return
    words = [word for word in memory.content.split() if query_terms(word)] or [""]
    word = words[which % len(words)]
    hits = vault.recall(word, limit=1000, source="memories")
    # Nothing of an earlier example may answer for this one.
    vault.memories.forget(memory.id)
    assert memory.content == clean(text)
    assert (memory.id in {hit.source.memory_id for hit in hits}) == bool(word)
    assert all(hit.text == memory.content[hit.source.start : hit.source.end] for hit in hits)
    assert memory.id not in {hit.source.memory_id for hit in vault.recall(word, limit=1000)}


@given(st.lists(TEXTS, min_size=1, max_size=3))
@settings(max_examples=60)
@pytest.mark.feature("G11")
def test_whatever_is_said_the_index_agrees_with_it(vault: Vault, texts: list[str]) -> None:
    chat = vault.sessions.open(channel="said")
    said = [chat.add("user", text) for text in texts]
    assert vault.admin.index.verify().sound
    for message in said:
        words = [word for word in message.text.split() if query_terms(word)]
        if words:
            hits = vault.recall(words[-1], limit=1000, session_id=chat.id)
            # Itself, or the same words of the same person, which are not told twice.
            told = {hit.source.message_id for hit in hits} | {fingerprint(hit.text) for hit in hits}
            assert {message.id, fingerprint(message.text)} & told
            for hit in hits:
                _cites(vault, hit)
    vault.sessions.delete(chat.id)
    assert vault.admin.index.verify().sound
