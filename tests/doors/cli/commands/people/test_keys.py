"""`recollectum keys`: scopes, further owners, and rotation."""

import pytest

from tests.doors.cli.calls import ok, refused

pytestmark = pytest.mark.process


def test_a_key_has_scopes_and_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("remember", "ada likes tea")
    ok("users", "add", "bob")
    made = ok("keys", "create", "--scope", "read", "--owner", "bob", "--json").json
    assert made["key"]["permissions"] == ["read"]
    assert made["key"]["owners"] == ["user:bob"]
    assert "bob" in ok("keys", "list").out
    assert "unknown" in refused("keys", "create", "--scope", "everything")
    assert "at least one" in refused("keys", "create", "--scope", "admin")
    assert "there is no user 'carol'" in refused("keys", "create", "--owner", "carol")
    assert "not both" in refused("keys", "create", "--read-only", "--scope", "write", code=2)
    monkeypatch.setenv("RECOLLECTUM_API_KEY", made["secret"])
    assert "tea" in ok("recall", "likes").out
    assert "does not allow writing" in refused("remember", "x")


def test_a_rotated_key_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("remember", "ada likes tea")
    old = ok("keys", "create", "--json").json
    rotated = ok("keys", "rotate", old["key"]["id"], "--json")
    assert rotated.json["key"]["person"] == old["key"]["person"]
    kept = ok("keys", "rotate", rotated.json["key"]["id"], "--grace", "10m")
    assert "ends in 10m" in kept.err
    assert "there is no key" in refused("keys", "rotate", old["key"]["id"])
    for secret in (rotated.json["secret"], kept.word):
        monkeypatch.setenv("RECOLLECTUM_API_KEY", secret)
        assert "tea" in ok("recall", "likes").out
    monkeypatch.setenv("RECOLLECTUM_API_KEY", old["secret"])
    assert "revoked" in refused("recall", "likes")
