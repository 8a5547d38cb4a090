"""Profile: who this person is, in a few bullets, made again only when what it was made from changes."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.errors import StorageError
from recollectum.domain.memory import Kind, Memory
from recollectum.domain.profile import Bullet, Profile
from recollectum.domain.proposal import RULES
from recollectum.models.language import LanguageModel
from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.storage.tables import memories, profiles
from recollectum.storage.tables.profiles import CachedProfile, Told
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation

#: So many of the most important facts are considered, and so many of what the person was at most recently.
MOST_FACTS, MOST_RECENT = 40, 20
_OF_FACTS, _OF_WORK = (Kind.FACT, Kind.PREFERENCE), (Kind.PROJECT, Kind.TASK)


class Profiles:
    """The profile of one vault's owner, for all agents or for one."""

    def __init__(self, footing: Footing) -> None:
        self._footing = footing

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

    @operation(Permission.READ, Scope.USER)
    def get(
        self, *, model: LanguageModel | None = None, agent: str | None = None, refresh: bool = False
    ) -> Profile | None:
        """The profile; None when nothing is known. A model is asked once, until what it was told changes.

        The model is the home's unless one is given. Where there is none, or the call fails, it is the most important of
        what is known, word for word, and says `by: rules`. With `agent` only what is shared or that agent's is
        considered.
        """
        # Whoever may only read here does not spend the owner's money.
        asked = model or (self._footing.language_model() if self.gate.own else None)
        considered, cached = self._footing.read(lambda tx, reading: _at_hand(tx, reading, agent))
        if cached and not refresh and (asked is None or cached.by != RULES):
            return cached
        # No transaction is open while a model thinks.
        known = self._footing.read(lambda tx, _: _load(tx, considered))
        made = _made(known, asked)
        if made:
            keep_profile(self._footing, agent, Ready(made, considered))
        return made


@dataclass(frozen=True, slots=True)
class Ready:
    """A profile, and what it was made from if that was just now."""

    profile: Profile
    made_from: Sequence[Told] = ()


def profile_now(tx: Tx, reading: Reading, agent: str | None) -> Ready | None:
    """The profile without asking a model: the cached one while it is good, else the ranked list."""
    considered, cached = _at_hand(tx, reading, agent)
    if cached:
        return Ready(cached)
    made = _made(_load(tx, considered), None)
    return Ready(made, considered) if made else None


def keep_profile(footing: Footing, agent: str | None, made: Ready) -> None:
    """Cache a profile that was made just now, unless what it was made from has changed since."""

    def keep(tx: Tx, reading: Reading) -> None:
        digest = _digest(made.made_from)
        if _digest(_considered(tx, reading, agent)) == digest:
            bullets = [(one.text, one.memory_ids) for one in made.profile.bullets]
            profiles.save(tx, agent, CachedProfile(digest, bullets, made.profile.by), reading.now)

    # What somebody else's model made of it is for them alone.
    if made.made_from and footing.gate.own:
        # A disk that takes no writes must not make the answer fail.
        with suppress(StorageError):
            footing.write(keep)


def _made(known: Sequence[Memory], model: LanguageModel | None) -> Profile | None:
    if not known:
        return None
    # Only now: most programs never ask who somebody is, and what tells them takes a while to load.
    from recollectum.distil.profile import profile  # noqa: PLC0415

    return profile(known, model)


def _considered(tx: Tx, reading: Reading, agent: str | None) -> list[Told]:
    return [
        *profiles.important(tx, _OF_FACTS, agent, reading, MOST_FACTS),
        *profiles.recent(tx, _OF_WORK, agent, reading, MOST_RECENT),
    ]


def _at_hand(tx: Tx, reading: Reading, agent: str | None) -> tuple[list[Told], Profile | None]:
    """What a profile is to be made from, and the one that was made from just that."""
    considered = _considered(tx, reading, agent)
    cached = profiles.find(tx, agent)
    if cached is None or cached.digest != _digest(considered):
        return considered, None
    bullets = tuple(Bullet(text, ids) for text, ids in cached.bullets)
    return considered, Profile(bullets, cached.by)


def _load(tx: Tx, considered: Sequence[Told]) -> list[Memory]:
    found = (memories.find(tx, one.id) for one in considered)
    return [one for one in found if one is not None]


def _digest(considered: Sequence[Told]) -> str:
    named = json.dumps([(one.id, one.version) for one in considered])
    return hashlib.sha256(named.encode()).hexdigest()
