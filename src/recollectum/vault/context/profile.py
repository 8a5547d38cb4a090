"""Makes a short profile of the owner, and caches it until its sources change."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from recollectum.domain.access.caller import Scope
from recollectum.domain.context import Bullet, Profile
from recollectum.domain.errors import StorageError
from recollectum.domain.memory import Kind, Memory
from recollectum.domain.proposal import RULES
from recollectum.domain.records import dataclass
from recollectum.models.language.port import LanguageModel
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories
from recollectum.storage.tables.learning import profiles
from recollectum.storage.tables.learning.profiles import CachedProfile, ProfileMemory, Selection
from recollectum.vault.gate import operation
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

#: How many of the most important facts are used, and how many of the most recent activities.
MOST_FACTS, MOST_RECENT = 40, 20
_OF_FACTS, _OF_WORK = (Kind.FACT, Kind.PREFERENCE), (Kind.PROJECT, Kind.TASK)


class Profiles(VaultService):
    """The profile of one vault's owner, for all agents or for one."""

    @operation(Action.MEMORY_READ, Scope.USER)
    def find(
        self, *, model: LanguageModel | None = None, agent: str | None = None, refresh: bool = False
    ) -> Profile | None:
        """Return the profile; None when nothing is known. It is cached until its sources change.

        It is written by the given model, or by the home's. Without a model, or when the call fails, it lists the most
        important memories verbatim and says `by: rules`. With `agent`, only memories that are shared or belong to that
        agent are used.
        """
        # A caller with read access only must not spend the owner's money.
        asked = model or (self._runtime.home.language_model() if self.gate.own else None)
        considered, cached, at = self._runtime.read(lambda tx, reading: _load_with_cached(tx, reading, agent))
        if cached and not refresh and (asked is None or cached.by != RULES):
            return cached
        # No transaction is open while a model runs.
        known = self._runtime.read(lambda tx, _: _load(tx, considered))
        made = _make_profile(known, asked)
        if made:
            cache_profile(self._runtime, agent, PreparedProfile(made, at, considered))
        return made


@dataclass(frozen=True, slots=True)
class PreparedProfile:
    """A profile, the time it was loaded, and the sources it was made from if it is new."""

    profile: Profile
    at: datetime
    made_from: Sequence[ProfileMemory] = ()


def load_profile(
    tx: Tx, reading: ClockReading, agent: str | None, considered: Sequence[ProfileMemory]
) -> PreparedProfile | None:
    """Return the profile without asking a model: the cached one if it is current, else its ranked sources."""
    cached = _find_cached(tx, agent, considered)
    if cached:
        return PreparedProfile(cached, reading.now)
    made = _make_profile(_load(tx, considered), None)
    return PreparedProfile(made, reading.now, considered) if made else None


def cache_profile(runtime: VaultRuntime, agent: str | None, made: PreparedProfile) -> None:
    """Cache a new profile, unless its sources have changed since."""

    # A profile made with another caller's model is for that caller alone.
    if not made.made_from or not runtime.gate.own:
        return
    bullets = [(one.text, one.memory_ids) for one in made.profile.bullets]
    cached = CachedProfile(_sources_digest(made.made_from), bullets, made.profile.by)
    # A disk that takes no writes must not make the answer fail.
    with suppress(StorageError), runtime.vault.use() as opened:
        opened.database.write(lambda tx: profiles.save(tx, agent, cached, made.made_from, made.at))


def _make_profile(known: Sequence[Memory], model: LanguageModel | None) -> Profile | None:
    if not known:
        return None
    # Imported here: it is slow to import, and most programs never ask for a profile.
    from recollectum.distil.profile import profile  # noqa: PLC0415

    return profile(known, model)


def profile_sources(agent: str | None) -> tuple[Selection, Selection]:
    """Return the sources of a profile: the most important facts, and the person's most recent activities."""
    return Selection(_OF_FACTS, agent, MOST_FACTS), Selection(_OF_WORK, agent, MOST_RECENT, newest=True)


def _load_sources(tx: Tx, reading: ClockReading, agent: str | None) -> list[ProfileMemory]:
    facts, work = profiles.select(tx, reading, *profile_sources(agent))
    return [*facts, *work]


def _find_cached(tx: Tx, agent: str | None, considered: Sequence[ProfileMemory]) -> Profile | None:
    """Return the cached profile that was made from exactly these memories."""
    cached = profiles.find(tx, agent)
    if cached is None or cached.digest != _sources_digest(considered):
        return None
    return Profile(tuple(Bullet(text, ids) for text, ids in cached.bullets), cached.by)


def _load_with_cached(
    tx: Tx, reading: ClockReading, agent: str | None
) -> tuple[list[ProfileMemory], Profile | None, datetime]:
    considered = _load_sources(tx, reading, agent)
    return considered, _find_cached(tx, agent, considered), reading.now


def _load(tx: Tx, considered: Sequence[ProfileMemory]) -> list[Memory]:
    return memories.find_many(tx, [one.id for one in considered])


def _sources_digest(considered: Sequence[ProfileMemory]) -> str:
    named = json.dumps([(one.id, one.version) for one in considered])
    return hashlib.sha256(named.encode()).hexdigest()
