"""Keys over HTTP: an admin key manages keys of its own owners, and gives nothing that it does not have."""

import pytest

from recollectum.domain.errors import Denied
from tests.doors.http.served import Served


@pytest.mark.loopback
def test_an_admin_key_makes_rotates_and_ends_keys_of_its_owners(served: Served) -> None:
    served.home.vault("user:bob")
    _, secret = served.home.keys.add("user:alice", permissions=("read", "write", "admin"), owners=("user:bob",))
    admin = served.with_key(secret)
    made = admin.ask("POST", "/v1/keys", {"person": "user:bob", "scopes": ["read"]})
    assert made.status == 200
    bob = served.with_key(made.json["secret"])
    assert bob.ask("GET", "/memory").status == 200
    assert bob.ask("POST", "/memory/add", {"content": "x"}).status == 403
    rotated = admin.ask("POST", f"/v1/keys/{made.json['key']['id']}/rotations")
    assert bob.ask("GET", "/memory").status == 401
    fresh = served.with_key(rotated.json["secret"])
    assert fresh.ask("GET", "/memory").status == 200
    assert admin.ask("DELETE", f"/v1/keys/{rotated.json['key']['id']}").status == 200
    assert fresh.ask("GET", "/memory").status == 401
    assert b"rk_" not in admin.ask("GET", "/v1/keys").body


@pytest.mark.loopback
def test_an_admin_key_reaches_no_further_than_it_was_made_for(served: Served) -> None:
    carol, _ = served.home.keys.add(str(served.home.vault("user:carol").owner))
    served.home.keys.add_grant("user:alice", "user:carol", "read")
    _, secret = served.home.keys.add("user:alice", permissions=("read", "admin"))
    admin = served.with_key(secret)
    # A grant lets its person read, and not hand out keys.
    assert admin.ask("POST", "/v1/keys", {"person": "user:carol", "scopes": ["read"]}).status == 404
    assert admin.ask("POST", "/v1/keys", {"owners": ["user:carol"], "scopes": ["read"]}).status == 404
    assert admin.ask("POST", "/v1/keys", {"person": "nonsense", "scopes": ["read"]}).status == 404
    assert admin.ask("POST", "/v1/keys", {"scopes": ["read", "write"]}).status == 403
    assert admin.ask("DELETE", f"/v1/keys/{carol.id}").status == 404
    assert admin.ask("POST", f"/v1/keys/{carol.id}/rotations").status == 404
    listed = admin.ask("GET", "/v1/keys").json["keys"]
    assert {one["person"] for one in listed} == {"user:alice"}
    assert all("write" not in one["permissions"] for one in listed)
    # Without admin there are no keys at all, not even one's own.
    assert served.ask("GET", "/v1/keys").status == 403
    assert served.ask("POST", "/v1/keys", {}).status == 403


@pytest.mark.loopback
def test_an_admin_key_does_not_touch_the_home(served: Served) -> None:
    _, secret = served.home.keys.add("user:alice", permissions=("read", "write", "admin"))
    alice = served.home.login(secret)
    for attempt in (alice.people.list, alice.keys.list_grants, alice.receipts.list):
        with pytest.raises(Denied):
            attempt()
    with pytest.raises(Denied):
        alice.vault("user:alice").admin.notes.add_folder("/etc")
