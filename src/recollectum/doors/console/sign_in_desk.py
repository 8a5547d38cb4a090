"""Keeps one-time links and browser sessions in memory."""

import hashlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import Clock

LINK_LIFETIME = timedelta(minutes=5)
#: A session ends when nobody used it for so long, and after so long in any case.
IDLE = timedelta(hours=1)
ABSOLUTE = timedelta(hours=12)
_MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """One browser that is signed in."""

    person: Owner
    #: The vault it looks at: the person's own, unless another was chosen.
    owner: Owner
    #: Stands in every form, so that no other page can send one.
    csrf: str
    began_at: datetime
    seen_at: datetime
    #: One sentence for the next page.
    notice: str = ""


@dataclass(frozen=True, slots=True)
class _Link:
    person: Owner
    made_at: datetime


class SignInDesk:
    """Hands out links, takes each of them once, and knows the sessions that came of them."""

    def __init__(self, clock: Clock, make_secret: Callable[[], str] = lambda: secrets.token_urlsafe(32)) -> None:
        self._clock = clock
        self._make_secret = make_secret
        self._lock = threading.Lock()
        # By digest: nothing is compared that a stopwatch could tell apart, and no secret lies in memory for long.
        self._links: dict[bytes, _Link] = {}
        self._signed: dict[bytes, BrowserSession] = {}

    def make_link(self, person: Owner) -> str:
        """A secret that signs this person in, once, within five minutes."""
        secret, now = self._make_secret(), self._clock()
        with self._lock:
            self._tidy(now)
            self._links[_digest(secret)] = _Link(person, now)
        return secret

    def redeem(self, secret: str) -> str | None:
        """The cookie of a new session for a link that is still good; the link is good no more."""
        now = self._clock()
        with self._lock:
            link = self._links.pop(_digest(secret), None)
            if link is None or now - link.made_at > LINK_LIFETIME:
                return None
            self._tidy(now)
            cookie = self._make_secret()
            self._signed[_digest(cookie)] = BrowserSession(
                person=link.person, owner=link.person, csrf=self._make_secret(), began_at=now, seen_at=now
            )
        return cookie

    def find(self, cookie: str) -> BrowserSession | None:
        """The session of a cookie, which is in use now; None when there is none, or none any more."""
        now, name = self._clock(), _digest(cookie)
        with self._lock:
            signed = self._signed.get(name)
            if signed is None or _is_expired(signed, now):
                self._signed.pop(name, None)
                return None
            self._signed[name] = replace(signed, seen_at=now)
        return signed

    def choose(self, cookie: str, owner: Owner) -> None:
        """Look at another vault from now on; whether that may be seen, the gate says at each step."""
        self._change(cookie, lambda signed: replace(signed, owner=owner))

    def leave_notice(self, cookie: str, notice: str) -> None:
        """Keep one sentence for the next page."""
        self._change(cookie, lambda signed: replace(signed, notice=notice))

    def end(self, cookie: str) -> None:
        """Sign one browser out."""
        with self._lock:
            self._signed.pop(_digest(cookie), None)

    def end_all(self, person: Owner) -> None:
        """Sign a person out everywhere, and take back links that were made for them."""
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
        # Nobody needs so many; the oldest make room.
        for kept in (self._links, self._signed):
            while len(kept) >= _MOST:
                kept.pop(next(iter(kept)))


def _is_expired(signed: BrowserSession, now: datetime) -> bool:
    return now - signed.seen_at > IDLE or now - signed.began_at > ABSOLUTE


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
