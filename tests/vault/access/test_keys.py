"""API keys: 256 bits, kept by digest, scoped to owners, rotated with or without a grace."""

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Denied, InvalidInput, NotFound

pytestmark = pytest.mark.process

START = datetime(2026, 11, 15, tzinfo=UTC)


class Turning:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def test_a_secret_has_256_bits_and_is_in_no_file(tmp_path: Path) -> None:
    with Recollectum(tmp_path, settings={"encryption": "off"}) as home:
        home.people.add("user:alice")
        _, secret = home.keys.add("user:alice")
        key, _ = home.keys.add("user:alice")
        _, rotated = home.keys.rotate(key.id)
        home.login(rotated)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for one in (secret, rotated):
        assert len(base64.urlsafe_b64decode(one.removeprefix("rk_") + "=")) == 32
        assert one.encode() not in kept


def test_a_rotated_key_ends_at_once_or_after_its_grace(tmp_path: Path) -> None:
    clock = Turning()
    with Recollectum(tmp_path, clock=clock) as home:
        home.people.add("user:alice")
        home.people.add("user:bob")
        first, old = home.keys.add("user:alice", permissions=("read",), owners=("user:bob",))
        second, new = home.keys.rotate(first.id)
        assert (second.permissions, second.owners, second.person) == (first.permissions, first.owners, first.person)
        with pytest.raises(Denied):
            home.login(old)
        with pytest.raises(NotFound):
            home.keys.rotate(first.id)
        _, newest = home.keys.rotate(second.id, grace=timedelta(hours=1))
        opened = home.login(new)
        home.login(newest)
        clock.now = START + timedelta(hours=1)
        with pytest.raises(Denied):
            home.login(new)
        with pytest.raises(Denied):
            opened.list_owners()
        home.login(newest)


def test_a_key_in_its_grace_can_be_ended_sooner(tmp_path: Path) -> None:
    with Recollectum(tmp_path) as home:
        home.people.add("user:alice")
        key, secret = home.keys.add("user:alice")
        home.keys.rotate(key.id, grace=timedelta(days=1))
        home.login(secret)
        home.keys.revoke(key.id)
        with pytest.raises(Denied):
            home.login(secret)


@pytest.mark.parametrize("grace", [timedelta(seconds=-1), timedelta(days=91)])
def test_a_grace_has_bounds(tmp_path: Path, grace: timedelta) -> None:
    with Recollectum(tmp_path) as home:
        home.people.add("user:alice")
        key, _ = home.keys.add("user:alice")
        with pytest.raises(InvalidInput, match="grace"):
            home.keys.rotate(key.id, grace=grace)


@pytest.mark.feature("P7")
def test_a_key_opens_the_vaults_it_was_made_for_and_speaks_in_its_own_name_there(tmp_path: Path) -> None:
    with Recollectum(tmp_path) as home:
        for person in ("user:alice", "user:bob", "user:carol"):
            home.vault(person)
        _, secret = home.keys.add("user:alice", owners=("user:bob",))
        alice = home.login(secret)
        assert {str(owner) for owner in alice.list_owners()} == {"user:alice", "user:bob"}
        assert alice.vault("user:alice").memories.save("tea").memory.trust == "owner"
        assert alice.vault("user:bob").memories.save("coffee").memory.trust == "unknown"
        with pytest.raises(NotFound):
            alice.vault("user:carol")
        with pytest.raises(NotFound):
            home.keys.add("user:alice", owners=("user:nobody",))


def test_what_a_person_leaves_behind_no_key_names(tmp_path: Path) -> None:
    from recollectum.vault.purge.request import PurgeRequest

    with Recollectum(tmp_path) as home:
        home.vault("user:alice")
        bob = home.vault("user:bob")
        _, secret = home.keys.add("user:alice", owners=("user:bob",))
        bob.privacy.purge.run(bob.privacy.purge.preview(PurgeRequest.user()).token)
        assert [str(owner) for owner in home.login(secret).list_owners()] == ["user:alice"]
        assert home.keys.list()[0].owners == ()


@pytest.mark.feature("P7")
def test_a_key_with_admin_manages_the_keys_of_its_owners_and_no_others(tmp_path: Path) -> None:
    with Recollectum(tmp_path) as home:
        for person in ("user:alice", "user:bob", "user:carol"):
            home.vault(person)
        carol, _ = home.keys.add("user:carol")
        further, _ = home.keys.add("user:alice", owners=("user:carol",))
        stronger, _ = home.keys.add("user:alice", permissions=("write",))
        home.keys.add_grant("user:alice", "user:carol", "read")
        own, secret = home.keys.add("user:alice", permissions=("read", "admin"), owners=("user:bob",))
        admin = home.login(secret).keys
        made, _ = admin.add("user:bob", permissions=("read",), owners=("user:alice",))
        assert {key.id for key in admin.list()} == {own.id, made.id}
        for hidden in (carol.id, further.id, stronger.id, "key_none"):
            for attempt in (admin.revoke, admin.rotate):
                with pytest.raises(NotFound, match="there is no key"):
                    attempt(hidden)
        # A grant lets its person read, and not hand out keys; and who is not there looks the same.
        for person, owners in (("user:carol", ()), ("user:alice", ("user:carol",)), ("user:nobody", ())):
            with pytest.raises(NotFound, match="there is no such owner for this key"):
                admin.add(person, permissions=("read",), owners=owners)
        with pytest.raises(Denied, match="may not grant a permission that it does not have"):
            admin.add("user:alice", permissions=("read", "write"))
        assert len(home.keys.list()) == 5
        admin.revoke(own.id)
        with pytest.raises(Denied):
            admin.list()


def test_a_key_without_admin_manages_none_not_even_its_own(tmp_path: Path) -> None:
    with Recollectum(tmp_path) as home:
        home.vault("user:alice")
        key, secret = home.keys.add("user:alice")
        for view in (home.login(secret), home.as_person("user:alice")):
            for attempt in (
                view.keys.list,
                lambda v=view: v.keys.add("user:alice"),
                lambda v=view: v.keys.rotate(key.id),
                lambda v=view: v.keys.revoke(key.id),
            ):
                with pytest.raises(Denied, match="does not allow managing"):
                    attempt()
