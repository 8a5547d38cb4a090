"""Profile: who a person is, in at most 20 bullets, each with the memories it was made of."""

from dataclasses import dataclass

#: No profile has more bullets.
MAX_BULLETS = 20


@dataclass(frozen=True, slots=True)
class Bullet:
    """One line of a profile."""

    text: str
    #: The memories that say it; never empty.
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a person, the most important first."""

    bullets: tuple[Bullet, ...]
    #: The model that wrote it, or `rules`.
    by: str
