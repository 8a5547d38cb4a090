"""Holds one-time links and browser sessions in memory."""

import hashlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import Clock, SteadyClock
from recollectum.domain.records import dataclass

if TYPE_CHECKING:
    from recollectum.engine import Recollectum

LINK_LIFETIME = timedelta(minutes=5)
#: A session ends after this idle time, and after this age in any case.
IDLE = timedelta(hours=1)
ABSOLUTE = timedelta(hours=12)
_MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """One signed-in browser."""

    person: Owner
    #: The vault it shows: the person's own, unless another was chosen.
    owner: Owner
    #: The CSRF token of every form, so that no other site can send one.
    csrf: str
    began_at: datetime
    seen_at: datetime
    #: One notice for the next page.
    notice: str = ""
    #: The event that the next page offers to undo.
    undo: int | None = None
    #: The home as the API key sees it that opened the session, with no more rights than the key; None after a link.
    #: It loads the key for each operation, so that a revoked key ends the session.
    keyed: "Recollectum | None" = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Link:
    person: Owner
    made_at: datetime


class SignInDesk:
    """Issues links, accepts each once, and holds the sessions."""

    def __init__(self, clock: Clock, make_secret: Callable[[], str] = lambda: secrets.token_urlsafe(32)) -> None:
        # A link or a session that has ended must not come back when the clock is set back.
        self._clock = SteadyClock(clock)
        self._make_secret = make_secret
        self._lock = threading.Lock()
        # By digest, so that timing reveals nothing, and no secret stays in memory.
        self._links: dict[bytes, _Link] = {}
        self._signed: dict[bytes, BrowserSession] = {}

    def make_link(self, person: Owner) -> str:
        """Return a secret that signs this person in, once, within five minutes."""
        secret, now = self._make_secret(), self._clock()
        with self._lock:
            self._tidy(now)
            self._links[_digest(secret)] = _Link(person, now)
        return secret

    def redeem(self, secret: str) -> str | None:
        """Return the cookie of a new session for a valid link, and invalidate the link."""
        now = self._clock()
        with self._lock:
            link = self._links.pop(_digest(secret), None)
            if link is None or now - link.made_at > LINK_LIFETIME:
                return None
            return self._begin(link.person, now)

    def admit(self, person: Owner, keyed: "Recollectum") -> str:
        """Return the cookie of a new session for the person of an API key."""
        now = self._clock()
        with self._lock:
            return self._begin(person, now, keyed)

    def _begin(self, person: Owner, now: datetime, keyed: "Recollectum | None" = None) -> str:
        self._tidy(now)
        cookie = self._make_secret()
        self._signed[_digest(cookie)] = BrowserSession(
            person=person, owner=person, csrf=self._make_secret(), began_at=now, seen_at=now, keyed=keyed
        )
        return cookie

    def find(self, cookie: str) -> BrowserSession | None:
        """Return the session of a cookie and mark it as used; None when there is none or it has ended."""
        now, name = self._clock(), _digest(cookie)
        with self._lock:
            signed = self._signed.get(name)
            if signed is None or _is_expired(signed, now):
                self._signed.pop(name, None)
                return None
            self._signed[name] = replace(signed, seen_at=now)
        return signed

    def choose(self, cookie: str, owner: Owner) -> None:
        """Switch to another vault; the gate checks access at each request."""
        self._change(cookie, lambda signed: replace(signed, owner=owner))

    def leave_notice(self, cookie: str, notice: str, undo: int | None = None) -> None:
        """Store one notice for the next page, with the event that it offers to undo."""
        self._change(cookie, lambda signed: replace(signed, notice=notice, undo=undo))

    def end(self, cookie: str) -> None:
        """Sign one browser out."""
        with self._lock:
            self._signed.pop(_digest(cookie), None)

    def end_all(self, person: Owner) -> None:
        """Sign a person out everywhere, and invalidate their links."""
        with self._lock:
            self._signed = {name: one for name, one in self._signed.items() if one.person != person}
            self._links = {name: one for name, one in self._links.items() if one.person != person}

    def _change(self, cookie: str, change: Callable[[BrowserSession], BrowserSession]) -> None:
        name = _digest(cookie)
        with self._lock:
            if name in self._signed:
                self._signed[name] = change(self._signed[name])

    def _tidy(self, now: datetime) -> None:
        self._links = {name: one for name, one in self._links.items() if now - one.made_at <= LINK_LIFETIME}
        self._signed = {name: one for name, one in self._signed.items() if not _is_expired(one, now)}
        # Nobody needs this many; the oldest are dropped.
        for kept in (self._links, self._signed):
            while len(kept) >= _MOST:
                kept.pop(next(iter(kept)))


def _is_expired(signed: BrowserSession, now: datetime) -> bool:
    return now - signed.seen_at > IDLE or now - signed.began_at > ABSOLUTE


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
