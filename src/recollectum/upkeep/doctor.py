"""The doctor: looks at everything that can go wrong with a home, and says in plain words what did and what cures it."""

from collections.abc import Callable, Sequence

from recollectum.domain.owner import Owner
from recollectum.policy.clock import Reading
from recollectum.upkeep import doctor_home, doctor_vaults
from recollectum.upkeep.backup_grounds import Grounds
from recollectum.upkeep.doctor_finding import Finding, Severity, fine


def examine(
    grounds: Grounds,
    clock_of: Callable[[Owner], Reading],
    *,
    owners: Sequence[Owner] | None = None,
    fix: bool = False,
) -> list[Finding]:
    """Everything about an open home and all vaults, or some; with `fix`, what is of no use to anybody is removed."""
    home, clock = grounds.home, grounds.clock
    found = [
        *doctor_vaults.key(grounds),
        *doctor_home.room(home, grounds.settings),
        *doctor_home.logs(home),
        *doctor_home.locks(home, clock),
        *doctor_home.unfinished(home, clock, fix=fix),
        *doctor_home.backups(home, clock),
        *doctor_vaults.orphans(grounds, fix=fix),
    ]
    for entry in grounds.entries(owners):
        inside = list(doctor_vaults.vault(grounds, entry))
        found += inside
        if all(one.severity is Severity.FINE for one in inside):
            found += _clock(entry.owner, clock_of(entry.owner))
    return [*found, telemetry()]


def cannot_open(sentence: str) -> Finding:
    """A home that does not open; the sentence says the cure."""
    return Finding(topic="home", severity=Severity.PROBLEM, words=sentence)


def telemetry() -> Finding:
    """What is sent elsewhere without being asked for."""
    return fine("telemetry", "there is none: nothing is sent anywhere but to the models you set")


def _clock(owner: Owner, reading: Reading) -> list[Finding]:
    if not reading.held:
        return []
    words = f"the clock leapt ahead of what the vault of {owner} believes, so nothing in it is moved or destroyed"
    cure = "set the clock right, or say that it is: recollectum lifecycle --help"
    return [Finding(topic="clock", severity=Severity.WARNING, words=words, cure=cure)]
