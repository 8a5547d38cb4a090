"""Recall by examples: any script and any sign, the right filters, and a citation for every hit."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import SourceKind
from recollectum.domain.trust import Trust
from recollectum.text.tokens import estimate
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, lay_home, open_home, quick_folder


@pytest.fixture
def vault(engine_settings: dict[str, object]) -> Iterator[Vault]:
    with quick_folder() as place:
        if engine_settings == {"encryption": "off"}:
            lay_home(place)
        with open_home(place, Turning(), settings=engine_settings) as home:
            yield home.vault("user:alice")


@pytest.mark.feature("G11")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("She codes in C++ and C#", "C++"),
        ("write to grace@example.org", "grace@example.org"),
        ("write to grace@example.org", "example"),
        ("Er wohnt in München", "munchen"),
        ("彼女は東京に住んでいます", "東京"),
        ("그녀는 서울에 산다", "서울"),
        ("Она живёт в Москве", "москве"),
        ("tea 🍵 at four", "🍵 tea"),
        ('He said "never again"', '"never'),
        ("the meetings were long", "meeting"),
        ("see v1.2.3 of node.js", "node.js"),
        ("NEAR the station", "NEAR("),
        ("Grace is my girlfriend", "who is GRACE?"),
    ],
)
def test_a_text_is_found_by_what_a_person_would_ask(vault: Vault, text: str, query: str) -> None:
    vault.memories.save("something else entirely")
    memory = vault.memories.save(text).memory
    assert [hit.source.memory_id for hit in vault.recall(query)] == [memory.id]


@pytest.mark.feature("G11")
@pytest.mark.parametrize(
    "query", ["", " ", '"', "*", "()", "AND OR NOT", "^", "a" * 100_000, "\0", "\ud800", "- -", "'"]
)
def test_any_text_is_a_legal_query(vault: Vault, query: str) -> None:
    vault.memories.save("words")
    assert vault.recall(query) == []


@pytest.mark.feature("A12")
def test_every_hit_cites_its_place(vault: Vault) -> None:
    chat = vault.sessions.open(channel="telegram")
    chat.add("user", "nothing of note")
    message = chat.add("user", "I am vegetarian", speaker="Alice")
    memory = vault.memories.save("Alice is vegetarian", message_id=message.id).memory
    hits = {hit.source.kind: hit for hit in vault.recall("vegetarian")}
    said, known = hits[SourceKind.SESSIONS], hits[SourceKind.MEMORIES]
    assert (said.source.session_id, said.source.message_id, said.source.position) == (chat.id, message.id, 2)
    assert (said.source.start, said.source.end, said.text) == (0, 15, "I am vegetarian")
    assert (said.author, said.trust, said.created_at) == ("Alice", Trust.OWNER, START)
    assert (known.source.memory_id, known.source.message_id, known.source.session_id) == (
        memory.id,
        message.id,
        chat.id,
    )
    assert str(known.source) == f"{memory.id} [0:19]"


def test_what_a_better_hit_says_already_is_not_said_again(vault: Vault) -> None:
    chat = vault.sessions.open()
    for speaker in ("ann", "ann", "ben"):
        chat.add("user", "Tea, please!", speaker=speaker)
    assert sorted(hit.author for hit in vault.recall("tea")) == ["ann", "ben"]
    memory = vault.memories.save("tea please", importance=1).memory
    assert [hit.source.memory_id for hit in vault.recall("tea", limit=1)] == [memory.id]


def test_what_may_not_be_served_takes_nobodys_place() -> None:
    clock = Turning()
    with quick_folder() as place, open_home(place, clock) as home:
        vault = home.vault("user:alice")
        kept = vault.memories.save("a very long sentence in which tea is one word among a good many others").memory
        vault.memories.save_many(Draft(content=f"tea {number}", ttl=timedelta(hours=1)) for number in range(500))
        clock.turn(timedelta(hours=2))
        assert [hit.source.memory_id for hit in vault.recall("tea")] == [kept.id]


def test_a_budget_of_tokens_cuts_the_list(vault: Vault) -> None:
    for number in range(9):
        vault.memories.save(f"a sentence about tea that is number {number}")
    hits = vault.recall("tea", tokens=40)
    assert 0 < sum(estimate(hit.text) for hit in hits) <= 40
    assert [hit.text for hit in hits] == [hit.text for hit in vault.recall("tea")][: len(hits)]
    assert vault.recall("tea", tokens=1) == []
    with pytest.raises(InvalidInput, match="tokens 0"):
        vault.recall("tea", tokens=0)


@pytest.mark.feature("G11")
def test_a_long_text_is_cited_by_the_piece_that_answers(vault: Vault) -> None:
    filler = "\n\n".join(f"Paragraph {number} speaks of the weather and little else." for number in range(200))
    text = f"{filler}\n\nThe safe opens with zanzibar.\n\n{filler}"
    message = vault.sessions.open().add("user", text)
    hits = vault.recall("zanzibar")
    assert [hit.source.message_id for hit in hits] == [message.id]
    assert "zanzibar" in hits[0].text
    assert len(hits[0].text) < len(text) / 4
    assert hits[0].text == text[hits[0].source.start : hits[0].source.end]


@pytest.mark.feature("A12")
def test_the_filters_choose_where_to_look(vault: Vault) -> None:
    chats = [vault.sessions.open(channel=channel) for channel in ("one", "two")]
    for number, chat in enumerate(chats):
        chat.add("user", f"tea, cup {number}")
    vault.memories.save("tea", kind="task")
    vault.memories.save("green tea")
    assert len(vault.recall("tea")) == 4
    assert len(vault.recall("tea", limit=3)) == 3
    assert len(vault.recall("tea", source="memories")) == 2
    assert len(vault.recall("tea", source="sessions")) == 2
    assert [hit.text for hit in vault.recall("tea", kind="task")] == ["tea"]
    assert [hit.source.session_id for hit in vault.recall("tea", session_id=chats[1].id)] == [chats[1].id]
    assert vault.recall("tea", session_id="ses_none") == []
    with pytest.raises(InvalidInput):
        vault.recall("tea", source="dreams")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput):
        vault.recall("tea", kind="rumour")  # pyright: ignore[reportArgumentType]
    for limit in (0, -1, 1001):
        with pytest.raises(InvalidInput):
            vault.recall("tea", limit=limit)


@pytest.mark.feature("G11")
def test_better_answers_come_first_and_ties_go_to_the_newer(vault: Vault) -> None:
    vault.memories.save("the garden has roses, and a shed, and a path that leads to the road")
    best = vault.memories.save("roses in the garden").memory
    old = vault.memories.save("tulips stand in pot 1").memory
    new = vault.memories.save("tulips stand in pot 2").memory
    hits = vault.recall("garden roses")
    assert hits[0].source.memory_id == best.id
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.source.memory_id for hit in vault.recall("tulips")] == [new.id, old.id]


@pytest.mark.feature("G11")
def test_the_words_of_a_key_find_its_memory(vault: Vault) -> None:
    memory = vault.memories.save("Grace", key="best_friend").memory
    assert [hit.source.memory_id for hit in vault.recall("who is my best friend?")] == [memory.id]


@pytest.mark.feature("G11")
def test_the_index_is_made_again_from_the_rows(vault: Vault) -> None:
    vault.memories.save("one apple")
    vault.sessions.open().add("user", "two apples")
    vault.memories.forget(vault.memories.save("no apple").id)
    before = vault.recall("apple")
    assert vault.admin.index.rebuild() == 2
    assert vault.recall("apple") == before
    assert vault.admin.index.verify().sound
