"""Two people who are one: the preview, the merge, the way back, and a process that dies in between."""

from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.access.person import Merge
from recollectum.domain.errors import Conflict, Denied, InvalidInput, NotFound
from tests.crashes.programs import hear, kill, run, start
from tests.matrix.homes import Turning, open_home

pytestmark = pytest.mark.process

_PROGRAM = "tests.vault.merging_program"
#: How many statements of a transaction change something.
_STATEMENTS = {"merge": 7, "unmerge": 4}
ALICE, BOB = Owner.parse("user:alice"), Owner.parse("user:bob")


@pytest.fixture
def people(home: Recollectum) -> Recollectum:
    """Alice, who is bob on another channel, and carol."""
    for name, address in (("alice", "telegram:1"), ("bob", "whatsapp:+4915100000001"), ("carol", "telegram:3")):
        home.people.add(f"user:{name}")
        home.people.add_identity(f"user:{name}", address)
    home.vault("user:alice").memories.save("alice likes tea")
    home.vault("user:bob").memories.save("bob likes coffee")
    home.vault("user:carol")
    home.keys.add_grant("user:bob", "user:carol", "read")
    home.keys.add_grant("user:carol", "user:bob", "read")
    return home


def state(home: Recollectum) -> dict[str, object]:
    """All that a merge may touch."""
    return {
        "people": home.people.list(),
        "grants": home.keys.list_grants(),
        "keys": home.keys.list(),
        "owners": home.list_owners(),
        "texts": {str(owner): home.vault(owner).memories.list() for owner in home.list_owners()},
    }


def merged(home: Recollectum, kept: str = "user:alice", other: str = "user:bob") -> Merge:
    """Merge as the preview says."""
    return home.people.merge(kept, other, home.people.preview_merge(kept, other).token)


@pytest.mark.feature("A14")
def test_a_message_from_either_address_lands_with_the_one_person(people: Recollectum) -> None:
    merged(people)
    people.chat("telegram:1").add("user", "canary from telegram")
    people.chat("whatsapp:004915100000001").add("user", "canary from whatsapp")
    people.chat("telegram:3").add("user", "canary of carol")
    heard = {name: {hit.text for hit in people.vault(f"user:{name}").recall("canary")} for name in ("alice", "carol")}
    assert heard == {"alice": {"canary from telegram", "canary from whatsapp"}, "carol": {"canary of carol"}}
    assert people.vault("user:bob").recall("canary") == []


@pytest.mark.feature("A14")
def test_the_preview_says_what_moves_and_changes_nothing(people: Recollectum) -> None:
    key, _ = people.keys.add("user:bob")
    revoked, _ = people.keys.add("user:bob")
    people.keys.revoke(revoked.id)
    before = state(people)
    seen = people.people.preview_merge("user:alice", "user:bob")
    assert state(people) == before
    assert [str(one) for one in seen.identities] == ["whatsapp:+4915100000001"]
    assert seen.keys == (key.id,)
    assert seen.grants == (people.keys.list_grants()[0].id,)
    assert (seen.kept_vaults, seen.merged_vaults) == ((ALICE,), (BOB,))
    assert "not merged" in seen.effect
    done = people.people.merge("user:alice", "user:bob", seen.token)
    assert (done.identities, done.grants, done.keys) == (seen.identities, seen.grants, seen.keys)


@pytest.mark.feature("A14")
def test_vaults_are_not_mixed(people: Recollectum) -> None:
    merged(people)
    assert people.vault("user:alice").recall("likes") != []
    assert [hit.text for hit in people.vault("user:alice").recall("coffee")] == []
    assert [hit.text for hit in people.vault("user:bob").recall("coffee")] == ["bob likes coffee"]
    with pytest.raises(NotFound):
        people.as_person("user:alice").vault("user:bob")


@pytest.mark.parametrize(
    ("kept", "merged_away", "says"), [("user:alice", "user:eve", "has no vault"), ("user:eve", "user:bob", "other way")]
)
def test_the_preview_says_what_becomes_of_the_vaults(
    people: Recollectum, kept: str, merged_away: str, says: str
) -> None:
    people.people.add("user:eve")
    assert says in people.people.preview_merge(kept, merged_away).effect


@pytest.mark.feature("A14")
def test_an_undo_restores_exactly(people: Recollectum) -> None:
    people.keys.add("user:bob")
    revoked, _ = people.keys.add("user:bob")
    people.keys.revoke(revoked.id)
    before = state(people)
    done = merged(people)
    assert state(people) != before
    undone = people.people.unmerge(done.id)
    assert state(people) == before
    assert undone.undone_by == undone.merged_by == "process"
    assert people.people.list_merges() == [undone]
    with pytest.raises(Conflict, match="undone already"):
        people.people.unmerge(done.id)


def test_a_key_and_a_grant_work_for_the_person_who_is_kept_until_it_is_undone(people: Recollectum) -> None:
    _, secret = people.keys.add("user:bob")
    done = merged(people)
    login = people.login(secret)
    assert {str(owner) for owner in login.list_owners()} == {"user:alice", "user:carol"}
    people.people.unmerge(done.id)
    assert {str(owner) for owner in login.list_owners()} == {"user:bob", "user:carol"}


def test_what_was_taken_away_since_is_not_brought_back(people: Recollectum) -> None:
    done = merged(people)
    people.people.remove_identity("user:alice", "whatsapp:+4915100000001")
    people.people.add_identity("user:carol", "whatsapp:+4915100000001")
    people.keys.revoke_grant(done.grants[0])
    people.people.add_identity("user:alice", "signal:+4915100000009")
    people.people.unmerge(done.id)
    assert people.people.resolve("whatsapp:+4915100000001") == Owner.parse("user:carol")
    assert people.people.get("user:bob").identities == ()
    assert len(people.people.get("user:alice").identities) == 2


def test_a_key_revoked_since_stays_revoked(people: Recollectum) -> None:
    key, secret = people.keys.add("user:bob")
    done = merged(people)
    people.keys.revoke(key.id)
    people.people.unmerge(done.id)
    with pytest.raises(Denied):
        people.login(secret)


def test_a_token_is_of_one_preview(people: Recollectum) -> None:
    token = people.people.preview_merge("user:alice", "user:bob").token
    for kept, other in (("user:bob", "user:alice"), ("user:alice", "user:carol")):
        with pytest.raises(Conflict, match="changed since"):
            people.people.merge(kept, other, token)
    people.people.add_identity("user:bob", "signal:+4915100000002")
    before = state(people)
    for wrong in (token, ""):
        with pytest.raises(Conflict, match="changed since"):
            people.people.merge("user:alice", "user:bob", wrong)
    assert state(people) == before
    assert people.people.list_merges() == []


@pytest.mark.parametrize(
    ("kept", "other", "error"),
    [
        ("user:alice", "user:alice", InvalidInput),
        ("user:alice", "user:alice/agent:coder", InvalidInput),
        ("user:alice", "user:nobody", NotFound),
        ("user:nobody", "user:alice", NotFound),
        ("user:alice", "agent:coder", InvalidInput),
        ("user:alice", "global", InvalidInput),
        ("group:whatsapp:1", "user:alice", InvalidInput),
        ("user:alice", "user:acme", InvalidInput),
    ],
)
def test_what_cannot_be_merged_is_refused(people: Recollectum, kept: str, other: str, error: type[Exception]) -> None:
    people.people.add("agent:coder")
    people.people.save_tenant("acme", {})
    people.people.add("user:acme", tenant="acme")
    with pytest.raises(error):
        people.people.preview_merge(kept, other)
    with pytest.raises(error):
        people.people.merge(kept, other, "token")


def test_only_the_operator_may(people: Recollectum) -> None:
    token = people.people.preview_merge("user:alice", "user:bob").token
    for name in ("alice", "bob"):
        view = people.login(people.keys.add(f"user:{name}")[1])
        for call in (
            lambda p=view.people: p.preview_merge("user:alice", "user:bob"),
            lambda p=view.people: p.merge("user:alice", "user:bob", token),
            lambda p=view.people: p.unmerge("mrg_none"),
            lambda p=view.people: p.list_merges(),
        ):
            with pytest.raises(Denied):
                call()


def test_who_is_part_of_another_is_given_nothing_and_merged_no_further(people: Recollectum) -> None:
    done = merged(people)
    with pytest.raises(Conflict, match=done.id):
        people.people.add_identity("user:bob", "telegram:2")
    for kept, other in (("user:carol", "user:bob"), ("user:bob", "user:carol"), ("user:alice", "user:bob")):
        with pytest.raises(Conflict, match=done.id):
            people.people.preview_merge(kept, other)
    with pytest.raises(NotFound):
        people.people.unmerge("mrg_none")


def test_merges_are_undone_in_the_order_that_leads_back(people: Recollectum) -> None:
    before = state(people)
    first, second = merged(people), merged(people, "user:carol", "user:alice")
    assert people.people.resolve("whatsapp:+4915100000001") == Owner.parse("user:carol")
    with pytest.raises(Conflict, match=second.id):
        people.people.unmerge(first.id)
    people.people.unmerge(second.id)
    people.people.unmerge(first.id)
    assert state(people) == before
    merged(people)
    assert len(people.people.list_merges()) == 3


def test_two_merged_into_one_are_undone_in_any_order(people: Recollectum) -> None:
    before = state(people)
    first, second = merged(people), merged(people, "user:alice", "user:carol")
    people.people.unmerge(first.id)
    assert people.people.resolve("telegram:3") == ALICE
    people.people.unmerge(second.id)
    assert state(people) == before


@pytest.mark.feature("A14")
@pytest.mark.parametrize("what", ["merge", "unmerge"])
def test_a_process_killed_between_two_steps_leaves_all_or_nothing(people: Recollectum, place: Path, what: str) -> None:
    people.keys.add("user:bob")
    if what == "unmerge":
        merged(people)
    before = state(people)
    people.close()
    for stop_at in range(1, _STATEMENTS[what] + 1):
        child = start(_PROGRAM, str(place), what, str(stop_at))
        assert hear(child) == "inside"
        kill(child)
        with open_home(place, Turning()) as home:
            assert state(home) == before
    assert run(_PROGRAM, str(place), what, "0") == [f"changes {_STATEMENTS[what]}"]
    with open_home(place, Turning()) as home:
        assert state(home) != before
        assert home.people.resolve("whatsapp:+4915100000001") == (ALICE if what == "merge" else BOB)
