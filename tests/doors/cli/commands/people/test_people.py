"""Users, tenants, keys and grants, and who may do what with them."""

import pytest

from tests.doors.cli.calls import call, ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.mark.feature("A14")
def test_add_list_show_link_unlink() -> None:
    assert ok("users", "add", "alice").out == "added alice to tenant default\n"
    assert "telegram:42" in ok("users", "link", "alice", "telegram:42").out
    ok("users", "link", "alice", "whatsapp:0044 7700 900000")
    assert ok("users", "show", "alice", "--json").json["user"]["identities"] == [
        "telegram:42",
        "whatsapp:+447700900000",
    ]
    assert refused("users", "link", "ada", "telegram:42")
    ok("users", "unlink", "alice", "telegram:42")
    assert [line.split("\t")[0] for line in ok("users", "list").out.splitlines()] == ["ada", "alice"]
    assert refused("users", "add", "\u0430lice").startswith("user name")
    assert refused("users", "add", "alice")


def test_a_user_who_is_not_there_is_refused_with_the_nearest_name() -> None:
    ok("users", "add", "alice")
    for line in (["recall", "x"], ["remember", "x"], ["status"], ["memories", "list"], ["init"], ["keys", "create"]):
        assert refused(*line, "--user", "alcie") == (
            "there is no user 'alcie'; did you mean 'alice'? add it with: recollectum users add alcie"
        )
    assert refused("recall", "x", "--user", "zoe") == "there is no user 'zoe'; add it with: recollectum users add zoe"
    assert [one["owner"] for one in ok("users", "list", "--json").json["users"]] == ["user:ada", "user:alice"]


def test_a_user_with_no_vault_yet_has_an_empty_one() -> None:
    ok("users", "add", "alice")
    assert ok("recall", "x", "--user", "alice").out == ""
    ok("remember", "I like tea", "--user", "alice")
    assert "tea" in ok("recall", "tea", "--user", "alice").out
    assert ok("recall", "tea").out == ""


def test_other_owners_are_written_whole() -> None:
    ok("users", "add", "agent:coder")
    ok("remember", "use ruff", "--user", "agent:coder")
    ok("remember", "the office is closed on Monday", "--user", "global")
    assert "ruff" in ok("recall", "ruff", "--user", "agent:coder").out
    assert "Monday" in ok("recall", "office", "--user", "global").out
    assert [line.split("\t")[0] for line in ok("users", "list").out.splitlines()] == ["agent:coder", "global", "ada"]


@pytest.mark.parametrize(("variable", "setting", "used"), [("eve", "bob", "eve"), ("", "bob", "bob")])
def test_the_default_user_is_the_variable_then_the_setting(
    variable: str, setting: str, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECTUM_USER", variable)
    ok("settings", "set", "default_user", setting)
    ok("remember", "tea")
    assert ok("status", "--json").json["user"] == used


def test_the_last_resort_is_the_name_of_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECOLLECTUM_USER")
    monkeypatch.setenv("LOGNAME", "grace")
    assert "Made a vault for grace" in ok("init").out


def secret(*flags: str) -> str:
    return ok("keys", "create", *flags).word


def test_with_a_key_the_caller_is_its_person(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("users", "add", "alice")
    ok("remember", "ada likes tea")
    created = ok("keys", "create", "--user", "alice")
    assert "it is not shown again" in created.err
    monkeypatch.setenv("RECOLLECTUM_API_KEY", created.word)
    ok("remember", "alice likes cake")
    assert "cake" in ok("recall", "likes").out
    assert "tea" not in ok("recall", "likes").out
    assert "there is no vault of 'user:ada'" in refused("recall", "likes", "--user", "ada")
    assert "may not" in refused("users", "list")
    assert "may not" in refused("keys", "create")
    assert ok("status", "--json").json["encryption"] is None


def test_a_read_only_key_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("remember", "ada likes tea")
    monkeypatch.setenv("RECOLLECTUM_API_KEY", secret("--read-only"))
    assert "tea" in ok("recall", "likes").out
    assert "does not allow writing" in refused("remember", "x")


def test_a_revoked_or_wrong_key_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    key = ok("keys", "create", "--json").json
    assert key["secret"] not in ok("keys", "list").out
    assert ok("keys", "revoke", key["key"]["id"]).out == f"{key['key']['id']} is revoked\n"
    for wrong in (key["secret"], "rk_nope"):
        monkeypatch.setenv("RECOLLECTUM_API_KEY", wrong)
        assert "not known here, or was revoked" in refused("recall", "x")


def test_a_grant_opens_what_it_names_until_it_is_withdrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("users", "add", "alice")
    ok("remember", "ada likes tea")
    ok("remember", "closed on Monday", "--user", "global")
    grant = ok("users", "grants", "add", "--to", "alice", "--owner", "ada", "--permission", "read")
    assert grant.err == "alice may read what is ada's\n"
    ok("users", "grants", "add", "--to", "alice", "--owner", "global", "--permission", "read")
    rows = [line.split("\t")[1:5] for line in ok("users", "grants", "list").out.splitlines()]
    assert rows == [["alice", "read", "ada", "user"], ["alice", "read", "global", "global"]]
    key = secret("--user", "alice")
    with monkeypatch.context() as patch:
        patch.setenv("RECOLLECTUM_API_KEY", key)
        assert "tea" in ok("recall", "likes", "--user", "ada").out
        assert "Monday" in ok("recall", "closed", "--user", "global").out
        assert "no grant to write" in refused("remember", "x", "--user", "ada")
    ok("users", "grants", "withdraw", grant.word)
    monkeypatch.setenv("RECOLLECTUM_API_KEY", key)
    assert call("recall", "likes", "--user", "ada").code == 1


def test_a_grant_of_one_session_names_it() -> None:
    ok("users", "add", "alice")
    session = ok("sessions", "add", "user", "hi", "--json").json["message"]["session_id"]
    line = ("users", "grants", "add", "--to", "alice", "--owner", "ada", "--permission", "read")
    assert ok(*line, "--session", session, "--json").json["grant"]["scope"] == "session"
    assert "scope session names a session id" in refused(*line, "--scope", "session")
    assert "permission 'fly' is unknown" in refused(*line[:-1], "fly")


@pytest.mark.feature("M2")
def test_a_tenant_keeps_the_periods_that_are_not_named() -> None:
    ok("users", "tenants", "set", "acme", "--grace-days", "30")
    assert ok("users", "tenants", "set", "acme", "--active-days", "5", "--json").json["tenant"]["retention_days"] == {
        "grace": 30,
        "active": 5,
    }
    assert "acme" in ok("users", "tenants", "list").out
    ok("users", "add", "bob", "--tenant", "acme")
    memory = ok("remember", "tea", "--user", "bob").word
    rows = [line.split("\t") for line in ok("lifecycle", "preview", "--at", "+6d", "--user", "bob").out.splitlines()]
    assert [(row[0], row[3]) for row in rows] == [(memory, "archived")]
    assert "there is no tenant 'nope'" in refused("users", "add", "eve", "--tenant", "nope")
    assert "is not allowed" in refused("users", "tenants", "set", "acme", "--grace-days", "-1")


@pytest.mark.feature("A14")
def test_merge_and_unmerge() -> None:
    for name, address in (("alice", "telegram:1"), ("bob", "signal:+4915100000001")):
        ok("users", "add", name)
        ok("users", "link", name, address)
    ok("remember", "I like tea", "--user", "bob")
    assert "no terminal" in refused_merge()
    merged = ok("users", "merge", "alice", "bob", "--yes")
    assert "signal:+4915100000001" in merged.err
    assert "1 memory and 0 sessions, and stays as it is" in merged.err
    assert ok("users", "show", "alice", "--json").json["user"]["identities"] == ["signal:+4915100000001", "telegram:1"]
    assert ok("users", "merges").out.startswith(f"{merged.word}\talice\tbob\t")
    assert refused("users", "link", "bob", "telegram:2").startswith("user:bob is part of user:alice")
    assert ok("users", "unmerge", merged.word).out == "bob has 1 identity, 0 grants and 0 keys again\n"
    assert ok("users", "show", "bob", "--json").json["user"]["identities"] == ["signal:+4915100000001"]
    assert refused("users", "unmerge", merged.word).endswith("is undone already")
    assert refused("users", "merge", "alice", "alice", "--yes") == (
        "user:alice cannot be merged with itself; name two people"
    )


def refused_merge() -> str:
    """What is said where nobody can be asked; nothing is changed."""
    done = call("users", "merge", "alice", "bob")
    assert done.code == 2
    assert not ok("users", "merges", "--json").json["merges"]
    return done.err
