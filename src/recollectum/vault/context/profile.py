"""Makes a short profile of the owner, and caches it until its sources change."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from recollectum.domain.access.caller import Scope
from recollectum.domain.context import Bullet, Profile
from recollectum.domain.errors import StorageError
from recollectum.domain.memory import Kind, Memory
from recollectum.domain.proposal import RULES
from recollectum.models.language.port import LanguageModel
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories
from recollectum.storage.tables.learning import profiles
from recollectum.storage.tables.learning.profiles import CachedProfile, ProfileMemory, Selection
from recollectum.vault.gate import Gate, operation
from recollectum.vault.runtime import VaultRuntime

#: So many of the most important facts are considered, and so many of what the person was at most recently.
MOST_FACTS, MOST_RECENT = 40, 20
_OF_FACTS, _OF_WORK = (Kind.FACT, Kind.PREFERENCE), (Kind.PROJECT, Kind.TASK)


class Profiles:
    """The profile of one vault's owner, for all agents or for one."""

    def __init__(self, runtime: VaultRuntime) -> None:
        self._runtime = runtime

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._runtime.gate

    @operation(Action.MEMORY_READ, Scope.USER)
    def get(
        self, *, model: LanguageModel | None = None, agent: str | None = None, refresh: bool = False
    ) -> Profile | None:
        """The profile; None when nothing is known. A model is asked once, until what it was told changes.

        The model is the home's unless one is given. Where there is none, or the call fails, it is the most important of
        what is known, word for word, and says `by: rules`. With `agent` only what is shared or that agent's is
        considered.
        """
        # Whoever may only read here does not spend the owner's money.
        asked = model or (self._runtime.home.language_model() if self.gate.own else None)
        considered, cached = self._runtime.read(lambda tx, reading: _load_with_cached(tx, reading, agent))
        if cached and not refresh and (asked is None or cached.by != RULES):
            return cached
        # No transaction is open while a model thinks.
        known = self._runtime.read(lambda tx, _: _load(tx, considered))
        made = _make_profile(known, asked)
        if made:
            cache_profile(self._runtime, agent, PreparedProfile(made, considered))
        return made


@dataclass(frozen=True, slots=True)
class PreparedProfile:
    """A profile, and what it was made from if that was just now."""

    profile: Profile
    made_from: Sequence[ProfileMemory] = ()


def load_profile(tx: Tx, agent: str | None, considered: Sequence[ProfileMemory]) -> PreparedProfile | None:
    """The profile without asking a model: the cached one while it is good, else the ranked list of its sources."""
    cached = _find_cached(tx, agent, considered)
    if cached:
        return PreparedProfile(cached)
    made = _make_profile(_load(tx, considered), None)
    return PreparedProfile(made, considered) if made else None


def cache_profile(runtime: VaultRuntime, agent: str | None, made: PreparedProfile) -> None:
    """Cache a profile that was made just now, unless what it was made from has changed since."""

    def keep(tx: Tx, reading: ClockReading) -> None:
        digest = _sources_digest(made.made_from)
        if _sources_digest(_load_sources(tx, reading, agent)) == digest:
            bullets = [(one.text, one.memory_ids) for one in made.profile.bullets]
            profiles.save(tx, agent, CachedProfile(digest, bullets, made.profile.by), reading.now)

    # What somebody else's model made of it is for them alone.
    if made.made_from and runtime.gate.own:
        # A disk that takes no writes must not make the answer fail.
        with suppress(StorageError):
            runtime.write(keep)


def _make_profile(known: Sequence[Memory], model: LanguageModel | None) -> Profile | None:
    if not known:
        return None
    # Only now: most programs never ask who somebody is, and what tells them takes a while to load.
    from recollectum.distil.profile import profile  # noqa: PLC0415

    return profile(known, model)


def profile_sources(agent: str | None) -> tuple[Selection, Selection]:
    """What a profile is made from: the most important facts, and what the person was at most recently."""
    return Selection(_OF_FACTS, agent, MOST_FACTS), Selection(_OF_WORK, agent, MOST_RECENT, newest=True)


def _load_sources(tx: Tx, reading: ClockReading, agent: str | None) -> list[ProfileMemory]:
    facts, work = profiles.select(tx, reading, *profile_sources(agent))
    return [*facts, *work]


def _find_cached(tx: Tx, agent: str | None, considered: Sequence[ProfileMemory]) -> Profile | None:
    """The profile that was made from just these memories."""
    cached = profiles.find(tx, agent)
    if cached is None or cached.digest != _sources_digest(considered):
        return None
    return Profile(tuple(Bullet(text, ids) for text, ids in cached.bullets), cached.by)


def _load_with_cached(tx: Tx, reading: ClockReading, agent: str | None) -> tuple[list[ProfileMemory], Profile | None]:
    considered = _load_sources(tx, reading, agent)
    return considered, _find_cached(tx, agent, considered)


def _load(tx: Tx, considered: Sequence[ProfileMemory]) -> list[Memory]:
    return memories.find_many(tx, [one.id for one in considered])


def _sources_digest(considered: Sequence[ProfileMemory]) -> str:
    named = json.dumps([(one.id, one.version) for one in considered])
    return hashlib.sha256(named.encode()).hexdigest()
