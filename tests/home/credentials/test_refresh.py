"""A token is renewed when it ends or is turned away, once, and what somebody did meanwhile is not undone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollectum.domain.access.credential import CredentialKind, OAuthToken
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.home.credentials.store import Credentials
from tests.home.credentials.stores import NOW, clock, token

OAUTH = CredentialKind.OAUTH


def never(old: OAuthToken) -> OAuthToken:
    raise AssertionError("the server was asked")


@pytest.mark.feature("C7")
def test_a_token_ends_when_its_time_less_the_leeway_has_come() -> None:
    assert not token(minutes=2).is_expired(clock)
    assert token(minutes=1).is_expired(clock)
    assert not token(minutes=1).is_expired(clock, timedelta(seconds=59))
    assert not replace(token(), expires_at=None).is_expired(clock)
    assert not replace(token(), expires_at=datetime.max.replace(tzinfo=UTC)).is_expired(clock)
    with pytest.raises(InvalidInput, match="no time zone"):
        replace(token(), expires_at=NOW.replace(tzinfo=None))


@pytest.mark.feature("C7")
def test_a_token_that_ended_is_renewed_and_keeps_its_refresh_token_where_none_came(store: Credentials) -> None:
    store.save("mail", token("stale"))
    fresh = store.refresh("mail", lambda old: replace(token("fresh", minutes=60), refresh_token=None))
    assert (fresh.access_token, fresh.refresh_token) == ("fresh", "refresh-stale")
    assert store.find("mail", kind=OAUTH) == fresh
    assert store.refresh("mail", never) == fresh


def test_a_token_that_was_turned_away_is_renewed_before_its_time_but_only_once(store: Credentials) -> None:
    old = token("old", minutes=60)
    store.save("mail", old)
    fresh = store.refresh("mail", lambda _: token("fresh", minutes=60), refused=old)
    assert fresh.access_token == "fresh"
    assert store.refresh("mail", never, refused=old) == fresh


def test_a_login_or_deletion_during_the_question_wins(store: Credentials) -> None:
    store.save("mail", token("stale"))

    def logs_in(old: OAuthToken) -> OAuthToken:
        store.save("mail", token("login", minutes=60))
        return token("late", minutes=60)

    assert store.refresh("mail", logs_in).access_token == "login"
    store.save("mail", token("stale"))

    def deletes(old: OAuthToken) -> OAuthToken:
        store.delete("mail", kind=OAUTH)
        return token("late", minutes=60)

    with pytest.raises(NotFound, match="log in first"):
        store.refresh("mail", deletes)
    assert store.all() == []


def test_a_server_that_fails_leaves_the_old_token_and_frees_the_lock(store: Credentials) -> None:
    store.save("mail", token("stale"))

    def fails(old: OAuthToken) -> OAuthToken:
        raise ConnectionError("no server")

    with pytest.raises(ConnectionError):
        store.refresh("mail", fails)
    assert store.find("mail", kind=OAUTH) == token("stale")
    assert store.refresh("mail", lambda _: token("fresh", minutes=60)).access_token == "fresh"


def test_there_is_nothing_to_refresh_without_a_token(store: Credentials) -> None:
    with pytest.raises(NotFound, match="there is no oauth 'mail' of account 'default'; log in first"):
        store.refresh("mail", never)
