"""Loading what is known before anything is asked: the profile and the learnings."""

from dataclasses import dataclass

from recollectum.domain.memory import Kind
from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.storage.tables import profiles
from recollectum.vault.profile import Ready, profile_now

#: More than fit into the share of any usual budget.
MOST_LEARNINGS = 60
_LEARNINGS = (Kind.CORRECTION, Kind.PREFERENCE, Kind.PATTERN, Kind.TOOL_USAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the agent knows of the person, the most important first."""

    #: None when nothing is known.
    profile: Ready | None
    learnings: tuple[str, ...]


def load_known(tx: Tx, reading: Reading, *, agent: str | None, learner: str | None) -> Known:
    """The profile for an agent or for all, and what one agent has learned or any has shared."""
    made = profile_now(tx, reading, agent)
    told = profiles.important(tx, _LEARNINGS, learner, reading, MOST_LEARNINGS)
    bullets = texts(made)
    # A preference may be in the profile already.
    return Known(profile=made, learnings=tuple(one.content for one in told if one.content not in bullets))


def texts(ready: Ready | None) -> tuple[str, ...]:
    """The lines of a profile."""
    return tuple(bullet.text for bullet in ready.profile.bullets) if ready else ()
