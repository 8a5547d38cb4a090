"""People, the addresses they are known under, tenants, keys and grants."""

from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.caller import Permission, Scope
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, Denied, InvalidInput, NotFound
from tests.matrix.homes import Turning, open_home


@pytest.mark.feature("A14")
@pytest.mark.feature("P11")
def test_one_person_is_one_on_every_channel_and_two_on_one_channel_stay_apart(home: Recollectum) -> None:
    for person, addresses in {"alice": ["telegram:42", "whatsapp:+44 7700 900000"], "bob": ["telegram:43"]}.items():
        home.people.add(f"user:{person}")
        for address in addresses:
            home.people.add_identity(f"user:{person}", address)
    home.chat("telegram:42").add("user", "canary of alice")
    home.chat("telegram:43").add("user", "canary of bob")
    home.chat("whatsapp:447700900000@s.whatsapp.net").add("user", "another of alice")
    heard = {
        name: [hit.text for hit in home.vault(f"user:{name}").recall("canary another")] for name in ("alice", "bob")
    }
    assert set(heard["alice"]) == {"canary of alice", "another of alice"}
    assert heard["bob"] == ["canary of bob"]


@pytest.mark.feature("P11")
def test_an_adapter_gets_person_and_session_in_one_step(home: Recollectum) -> None:
    home.people.add("user:alice")
    home.people.add_identity("user:alice", "telegram:42")
    chat = home.chat("Telegram:42", agent="coder", group="7", topic="t")
    assert str(chat.key) == "agent:coder:telegram:group:7:topic:t"
    assert chat.gate.caller.person == Owner.parse("user:alice")
    assert chat.gate.caller.name == "person:user:alice"
    with pytest.raises(NotFound) as refused:
        home.chat("telegram:99")
    assert "99" not in str(refused.value)


@pytest.mark.feature("P3")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("whatsapp:+447700900000", "whatsapp:0044 (7700) 900-000"),
        ("whatsapp:447700900000@c.us", "WhatsApp:+44.7700.900000"),
        ("telegram:42", "TELEGRAM:42"),
        ("api:key_01", "api: key_01 "),
        ("tui:local", "tui:local"),
    ],
)
def test_an_address_has_one_spelling(home: Recollectum, one: str, other: str) -> None:
    home.people.add("user:alice")
    home.people.add_identity("user:alice", one)
    assert home.people.resolve(other) == Owner.parse("user:alice")
    assert len(home.people.add_identity("user:alice", other).identities) == 1


@pytest.mark.feature("P3")
def test_an_address_belongs_to_one_person_only(home: Recollectum) -> None:
    home.people.add("user:alice")
    home.people.add("user:bob")
    home.people.add_identity("user:alice", "telegram:42")
    with pytest.raises(Conflict) as refused:
        home.people.add_identity("user:bob", "telegram:42")
    assert "alice" not in str(refused.value)
    with pytest.raises(NotFound):
        home.people.remove_identity("user:bob", "telegram:42")
    assert home.people.remove_identity("user:alice", "telegram:42").identities == ()
    home.people.add_identity("user:bob", "telegram:42")
    assert home.people.resolve("telegram:42") == Owner.parse("user:bob")
    assert home.people.resolve("signal:42") is None


@pytest.mark.parametrize("address", ["", "telegram", "telegram:", "telegram: ", ":42", "tele/gram:1", "telegram:4\n2"])
def test_an_address_that_is_none_is_refused(home: Recollectum, address: str) -> None:
    home.people.add("user:alice")
    with pytest.raises(InvalidInput):
        home.people.add_identity("user:alice", address)


def test_people_are_added_once_and_listed_by_name(home: Recollectum) -> None:
    home.people.add("user:bob")
    home.vault("user:alice")
    assert [str(person.owner) for person in home.people.list()] == ["user:alice", "user:bob"]
    assert home.people.get("user:bob").tenant == "default"
    for taken in ("user:alice", "user:bob", "user:BOB"):
        with pytest.raises(Conflict):
            home.people.add(taken)
    with pytest.raises(NotFound):
        home.people.get("user:nobody")
    with pytest.raises(NotFound):
        home.people.add_identity("user:nobody", "telegram:1")


@pytest.mark.feature("M2")
def test_tenants_are_made_before_they_are_used(home: Recollectum) -> None:
    with pytest.raises(NotFound):
        home.people.add("user:alice", tenant="acme")
    home.people.save_tenant("acme", {"active": 30})
    assert home.people.add("user:alice", tenant="acme").tenant == "acme"
    home.people.save_tenant("acme", {"grace": 1})
    assert {tenant.name: dict(tenant.retention_days) for tenant in home.people.list_tenants()}["acme"] == {"grace": 1}
    for wrong in ({"active": -1}, {"active": 36_501}, {"forever": 1}):
        with pytest.raises(InvalidInput):
            home.people.save_tenant("acme", wrong)


@pytest.mark.feature("P7")
def test_own_data_needs_no_grant_and_another_persons_does(home: Recollectum) -> None:
    home.vault("user:alice").memories.save("canary")
    home.people.add("user:bob")
    bob = home.login(home.keys.add("user:bob")[1])
    bob.vault("user:bob").memories.save("own")
    with pytest.raises(NotFound):
        bob.vault("user:alice")
    grant = home.keys.add_grant("user:bob", "user:alice", "read")
    granted = home.as_person("user:bob").vault("user:alice")
    assert granted.recall("canary")
    with pytest.raises(Denied):
        granted.memories.save("more")
    home.keys.revoke_grant(grant.id)
    with pytest.raises(NotFound):
        home.as_person("user:bob").vault("user:alice")


@pytest.mark.feature("P7")
def test_the_global_vault_needs_a_global_grant(home: Recollectum) -> None:
    home.vault("global").memories.save("canary for everybody")
    home.people.add("user:erin")
    with pytest.raises(NotFound):
        home.as_person("user:erin").vault("global")
    for scope in ("user", "session"):
        with pytest.raises(InvalidInput):
            home.keys.add_grant(
                "user:erin", "global", "read", scope=scope, session_id="s" if scope == "session" else None
            )
    with pytest.raises(InvalidInput):
        home.keys.add_grant("user:erin", "user:alice", "read", scope="global")
    home.keys.add_grant("user:erin", "global", "read", scope="global")
    assert home.as_person("user:erin").vault("global").recall("canary")
    with pytest.raises(Denied):
        home.as_person("user:erin").vault("global").memories.save("more")


def test_grants_that_make_no_sense_are_refused(home: Recollectum) -> None:
    home.people.add("user:bob")
    for permission, scope, session in (("admin", "user", None), ("read", "session", None), ("read", "user", "s")):
        with pytest.raises(InvalidInput):
            home.keys.add_grant(
                "user:bob", "user:alice", Permission(permission), scope=Scope(scope), session_id=session
            )
    for permission, scope in (("own", "user"), ("read", "world")):
        with pytest.raises(InvalidInput):
            home.keys.add_grant("user:bob", "user:alice", permission, scope=scope)  # pyright: ignore[reportArgumentType]
    with pytest.raises(NotFound):
        home.keys.add_grant("user:nobody", "user:alice", "read")
    with pytest.raises(NotFound):
        home.keys.revoke_grant("grt_none")
    assert home.keys.list_grants() == []


@pytest.mark.feature("P3")
def test_a_key_is_shown_once_and_kept_only_as_a_digest(place: Path, home: Recollectum) -> None:
    home.people.add("user:alice")
    key, secret = home.keys.add("user:alice")
    home.login(secret)
    assert secret not in repr((key, home.keys.list(), home.login(secret).caller))
    home.close()
    files = [path.read_bytes() for path in place.rglob("*") if path.is_file()]
    assert files
    assert not any(secret.encode() in file or secret[3:].encode() in file for file in files)


def test_keys_are_of_people_who_are_here_and_never_admins_alone(home: Recollectum) -> None:
    with pytest.raises(NotFound):
        home.keys.add("user:nobody")
    home.people.add("user:alice")
    for permissions in ([], ["admin"], ["own"]):
        with pytest.raises(InvalidInput):
            home.keys.add("user:alice", permissions=permissions)  # pyright: ignore[reportArgumentType]
    key, secret = home.keys.add("user:alice", permissions=("read",))
    home.keys.revoke(key.id)
    for call in (lambda: home.keys.revoke(key.id), lambda: home.keys.revoke("key_none")):
        with pytest.raises(NotFound):
            call()
    with pytest.raises(Denied):
        home.login(secret)
    assert [known.revoked_at is not None for known in home.keys.list()] == [True]


@pytest.mark.feature("P11")
def test_a_home_opened_with_a_key_is_the_persons(place: Path, clock: Turning, home: Recollectum) -> None:
    home.people.add("user:alice")
    home.vault("user:bob")
    secret = home.keys.add("user:alice")[1]
    with open_home(place, clock, api_key=secret) as alice:
        alice.vault("user:alice").memories.save("mine")
        assert alice.vault("user:alice").admin.events.list()[0].actor.startswith("key:")
        assert [str(owner) for owner in alice.list_owners()] == ["user:alice"]
        with pytest.raises(NotFound):
            alice.vault("user:bob")
