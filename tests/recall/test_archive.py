"""Recall serves no archived memory, and says how many of them match: by meaningful words, and only what may be read."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum import Recollectum
from recollectum.domain.hit import ArchivedMatches
from recollectum.domain.memory import Kind
from recollectum.recall import archive
from recollectum.vault.intake.draft import Draft
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.recall.homes import OWNER, change, home, opened, scripted
from tests.storage.statements import traced

_NOTHING = ArchivedMatches()


@pytest.fixture
def vault(place: Path, clock: Turning) -> Iterator[Vault]:
    with opened(place, None, clock=clock) as found:
        yield found


def _archived(vault: Vault, text: str, **about: str) -> str:
    saved = vault.memories.save(text, **about).memory.id  # pyright: ignore[reportArgumentType]
    vault.memories.move(saved, "archived")
    return saved


def test_a_vault_without_an_archive_has_no_archived_match(vault: Vault) -> None:
    vault.memories.save("the piano stands in the hall")
    assert vault.recall("piano").archived == _NOTHING
    assert vault.recall("").archived == _NOTHING


def test_archived_memories_that_match_are_counted_and_named_newest_first(vault: Vault) -> None:
    vault.memories.save("the violin is by the window")
    first = _archived(vault, "the piano stands in the hall")
    _archived(vault, "Grace was born in Oslo")
    second = _archived(vault, "the tuner of the pianos comes in May")
    found = vault.recall("where is the piano?")
    assert found.archived == ArchivedMatches(count=2, ids=(second, first))
    assert found.archived.words == "2 archived memories match"
    assert first not in {hit.source.memory_id for hit in found}


def test_the_answer_to_a_question_that_the_archive_does_not_know_counts_nothing(vault: Vault) -> None:
    _archived(vault, "the piano stands in the hall")
    assert vault.recall("what is the capital of Mongolia?").archived == _NOTHING


@pytest.mark.parametrize("query", ["where is the", "what is it?", "the", "and who of them"])
def test_stop_words_match_nothing(vault: Vault, query: str) -> None:
    _archived(vault, "the piano is where it is, and who of them knows what")
    assert vault.recall(query).archived == _NOTHING


def test_a_frequent_word_alone_is_no_match_and_a_rare_one_is(vault: Vault) -> None:
    for number in range(30):
        vault.memories.save(f"the garden has a tree number {number}")
    common = _archived(vault, "the garden is green")
    rare = _archived(vault, "a heron was seen")
    assert vault.recall("a heron in the garden").archived.ids == (rare,)
    assert vault.recall("the garden").archived.ids == (common,)


def test_more_than_two_fifths_of_the_words_are_a_match_and_fewer_are_not(vault: Vault) -> None:
    words = ["heron", "violin", "granite", "lantern", "saffron", "glacier", "tulip", "anchor", "comet"]
    # Each word is as rare as the others.
    for word in words:
        vault.memories.save(word)
    enough = _archived(vault, " ".join(words[:4]))
    _archived(vault, " ".join(words[4:7]))
    assert vault.recall(" ".join(words)).archived.ids == (enough,)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the Café Zürich opens at nine", "cafe zurich"),
        ("her e-mail is ann@example.org", "ann@example.org"),
        ("she plays the guitar", "which instruments?"),
        ("東京タワーに行った", "東京タワー"),
        ("the deployments failed twice", "failing deployment"),
    ],
)
def test_words_match_as_they_do_in_the_index(vault: Vault, text: str, query: str) -> None:
    saved = vault.memories.save(text).memory.id
    assert [hit.source.memory_id for hit in vault.recall(query)] == [saved]
    vault.memories.move(saved, "archived")
    assert vault.recall(query).archived.ids == (saved,)


def test_the_words_of_a_key_match_too(vault: Vault) -> None:
    saved = _archived(vault, "oolong", key="favourite_tea")
    assert vault.recall("favourite tea").archived.ids == (saved,)


@pytest.mark.process
def test_a_memory_that_is_restored_edited_forgotten_superseded_or_purged_is_not_counted(home_: Recollectum) -> None:
    vault = home_.vault(OWNER)
    texts = [f"the piano number {number} is loud" for number in range(5)]
    restored, edited, forgotten, superseded, purged = (_archived(vault, text) for text in texts)
    assert vault.recall("loud piano").archived.count == 5
    vault.memories.move(restored, "active")
    assert vault.recall("loud piano").archived.count == 4
    vault.memories.move(edited, "active")
    vault.memories.edit(edited, "the flute is quiet")
    vault.memories.move(edited, "archived")
    assert vault.recall("loud piano").archived.count == 3
    assert vault.recall("quiet flute").archived.ids == (edited,)
    vault.memories.forget(forgotten)
    assert set(vault.recall("loud piano").archived.ids) == {superseded, purged}
    vault.memories.move(superseded, "active")
    vault.memories.supersede(superseded, "that piano was sold")
    assert vault.recall("loud piano").archived.ids == (purged,)
    preview = vault.privacy.purge.preview(PurgeRequest.memories(purged))
    vault.privacy.purge.run(preview.token)
    assert vault.recall("loud piano").archived == _NOTHING


@pytest.fixture
def home_(place: Path, clock: Turning) -> Iterator[Recollectum]:
    with home(place, clock=clock) as found:
        yield found


def test_a_memory_that_another_process_destroyed_is_not_counted(vault: Vault, place: Path) -> None:
    _archived(vault, "the piano stands in the hall")
    assert vault.recall("piano").archived.count == 1
    change(place, "DELETE FROM memories WHERE state = 'archived'")
    assert vault.recall("piano").archived == _NOTHING


def test_what_a_quarantine_hides_is_not_counted_until_it_is_released(vault: Vault) -> None:
    chat = vault.sessions.open()
    said = chat.add("user", "the piano stands in the hall")
    made = vault.memories.save("the piano stands in the hall", message_id=said.id).memory.id
    held = vault.privacy.quarantine.add(f"session:{chat.id}")
    assert vault.memories.get(made).state == "archived"
    assert vault.recall("piano").archived == _NOTHING
    vault.privacy.quarantine.release(held.id)
    vault.memories.move(made, "archived")
    assert vault.recall("piano").archived.ids == (made,)


def test_what_age_archives_is_counted_from_its_deadline_on_before_any_sweep(place: Path) -> None:
    clock = Turning()
    with open_home(place, clock, settings={"lifecycle.active_days": 30, "lifecycle.archive_days": 10}) as found:
        vault = found.vault(OWNER)
        saved = vault.memories.save("the piano stands in the hall").memory.id
        # Not the piano: use would renew it.
        assert vault.recall("violin").archived == _NOTHING
        clock.turn(timedelta(days=31))
        answer = vault.recall("piano")
        assert (list(answer), answer.archived.ids) == ([], (saved,))
        vault.privacy.trash.sweep(agreed=True)
        assert vault.recall("piano").archived.ids == (saved,)
        clock.turn(timedelta(days=11))
        assert vault.recall("piano").archived == _NOTHING


_DAYS = st.none() | st.integers(0, 4)


@pytest.fixture(scope="module")
def mixed() -> Iterator[tuple[Vault, Turning, list[str]]]:
    """A vault whose memories differ in all that a filter asks for, each archived once and then restored."""
    clock = Turning()
    with quick_folder() as folder, opened(folder, None, clock=clock) as vault:
        ids: list[str] = []
        for day in range(3):
            for kind in (Kind.FACT, Kind.TASK):
                for channel, agent in (("one", "main"), ("two", "coder")):
                    said = vault.sessions.open(channel=channel, agent=agent).add("user", f"a piano on day {day}")
                    text = f"the piano of day {day}, {kind}, {channel}"
                    ids.append(vault.memories.save(text, kind=kind, message_id=said.id).memory.id)
            tool = vault.sessions.open(channel="one").add("tool", f"a tool saw the piano on day {day}")
            ids.append(vault.memories.save(f"a piano by a tool {day}", message_id=tool.id).memory.id)
            clock.turn(timedelta(days=1))
        yield vault, clock, ids


@given(
    kind=st.sampled_from([None, "fact", "task"]),
    channel=st.sampled_from([None, "one", "two", "three"]),
    agent=st.sampled_from([None, "main", "coder"]),
    trust=st.sampled_from([None, "owner", "tool"]),
    source=st.sampled_from([None, "memories", "sessions"]),
    speaker=st.sampled_from([None, "Ann"]),
    since=_DAYS,
    until=_DAYS,
)
def test_the_filters_count_the_memories_that_they_would_serve(
    mixed: tuple[Vault, Turning, list[str]], since: int | None, until: int | None, **filters: str | None
) -> None:
    vault, clock, ids = mixed
    begun = clock() - timedelta(days=3)
    times = {
        "since": None if since is None else begun + timedelta(days=since),
        "until": None if until is None else begun + timedelta(days=until),
    }
    asked = {**filters, **times, "untrusted": True, "limit": 50}
    served = {hit.source.memory_id for hit in vault.recall("piano", **asked)} & set(ids)  # pyright: ignore[reportArgumentType]
    for one in ids:
        vault.memories.move(one, "archived")
    counted = vault.recall("piano", **asked).archived  # pyright: ignore[reportArgumentType]
    for one in ids:
        vault.memories.move(one, "active")
    assert counted.count == len(served)
    assert set(counted.ids) <= served


def test_only_the_newest_are_compared_and_the_answer_says_so(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMORIES", 3)
    ids = [_archived(vault, f"the piano number {number}") for number in range(5)]
    found = vault.recall("piano").archived
    assert found == ArchivedMatches(count=3, cut=True, ids=tuple(reversed(ids[2:])))
    assert found.words == "at least 3 archived memories match"


def test_at_most_ten_are_named(vault: Vault) -> None:
    for number in range(12):
        _archived(vault, f"the piano number {number}")
    found = vault.recall("piano").archived
    assert (found.count, len(found.ids)) == (12, 10)


def test_the_ranking_is_the_same_with_and_without_matches_in_the_archive(vault: Vault) -> None:
    for number in range(20):
        vault.memories.save(f"the piano number {number} has {'many ' * number}keys")
    before = [(hit.source.memory_id, hit.score) for hit in vault.recall("piano keys")]
    _archived(vault, "the piano keys are white")
    assert [(hit.source.memory_id, hit.score) for hit in vault.recall("piano keys")] == before


@pytest.mark.parametrize("meaning", [False, True])
@pytest.mark.parametrize("query", ["piano", "Where is Ann's piano?", "what did I say last week about a piano"])
def test_counting_keeps_recall_within_eight_statements(tmp_path: Path, query: str, *, meaning: bool) -> None:
    with traced() as log, opened(tmp_path, scripted() if meaning else None) as vault:
        vault.memories.save_many([Draft(content=f"the piano of Ann, number {number}") for number in range(40)])
        chat = vault.sessions.open()
        for number in range(10):
            chat.add("user", f"a piano and a boat, {number}", speaker="Ann")
        for number in range(3):
            _archived(vault, f"Ann's piano number {number} is old")
        if meaning:
            vault.admin.index.update()
        vault.recall(query)
        assert vault.recall(query).archived.count == 3
        sent = log.of(lambda: vault.recall(query))
        assert len(sent) <= 8, sent


def test_the_archive_is_read_again_only_after_a_step_and_a_text_only_once(tmp_path: Path) -> None:
    with traced() as log, opened(tmp_path, None) as vault:
        ids = [_archived(vault, f"the piano number {number}") for number in range(20)]
        vault.recall("piano")

        def sent(step: Callable[[], object]) -> tuple[bool, bool]:
            step()
            listed = log.of(lambda: vault.recall("piano"))
            return any("AS part0" in sql for sql in listed), any("substr(memories.content, 1" in sql for sql in listed)

        assert sent(lambda: None) == (False, False)
        assert sent(lambda: vault.memories.save("the violin is new")) == (False, False)
        assert sent(lambda: vault.sessions.open().add("user", "a piano")) == (False, False)
        assert sent(lambda: vault.memories.move(ids[0], "active")) == (True, False)
        assert sent(lambda: vault.memories.move(ids[0], "archived")) == (True, True)
        assert vault.recall("piano").archived.count == 20


def test_a_caller_whom_a_rule_forbids_to_list_memories_learns_no_count(place: Path, clock: Turning) -> None:
    with home(place, clock=clock) as found:
        _archived(found.vault(OWNER), "the piano stands in the hall")
        found.vault(OWNER).memories.save("the piano is black")
        alice = found.as_person(OWNER).vault(OWNER)
        assert alice.recall("piano").archived.count == 1
    rules = place / "home" / "policies"
    rules.mkdir(parents=True, exist_ok=True)
    (rules / "reading.toml").write_text('[[rule]]\ntool = "memory.read"\ndecision = "deny"\npriority = 900\n')
    with home(place, clock=clock) as found:
        alice = found.as_person(OWNER).vault(OWNER)
        answer = alice.recall("piano")
        assert (len(answer), answer.archived) == (1, _NOTHING)
