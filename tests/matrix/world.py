"""A home with five owners, every state a memory can be in, and a caller of every kind; each text has a canary."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

import apsw

from recollectum import Recollectum
from recollectum.domain.errors import Denied
from recollectum.domain.message import ToolCall
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, let_expire, open_home, walk
from tests.plugins.engines import database_of
from tests.plugins.postgres import change_rows

OWNERS = ("user:alice", "user:bob", "group:whatsapp:1", "agent:coder", "global")
PEOPLE = ("user:carol", "user:dave", "user:erin", "user:frank", "user:grace")
#: A word that every text has, so that one query would find them all.
COMMON = "zebra"
#: When everything had been written and nothing had been moved, and when the matrix is run.
THEN = START + timedelta(days=170)
NOW = THEN + timedelta(days=10)

#: Each state under the day it is saved, counted back from THEN.
SAVED_BEFORE = {"outlived": 155, "aged": 85}
STATES = (
    "active",
    "archived",
    "soft_deleted",
    "expired",
    "superseded",
    "pending",
    "outlived",
    "aged",
    "pending_row",
    "superseded_row",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What one owner's vault holds, by id."""

    #: Each state's memory; `successor` is what superseded the superseded one.
    memories: dict[str, str]
    sessions: list[str]
    messages: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the checks have to know about the home, as it can be written down."""

    held: dict[str, Held]
    secrets: dict[str, str]
    grants: dict[str, str]


def canary(owner: str, place: str) -> str:
    """A word that occurs in one place of one vault and nowhere else."""
    return f"canary{owner.replace(':', '')}{place.replace('_', '')}x"


def canaries(owner: str) -> dict[str, str]:
    """Every canary of one owner, by place."""
    return {place: canary(owner, place) for place in (*STATES, "successor", "talk0", "talk1")}


def build(folder: Path) -> World:
    """Make the home and leave it closed."""
    clock = Turning(THEN - timedelta(days=160))
    with open_home(folder, clock) as home:
        let_expire(home)
        held = {owner: _fill(home, clock, owner) for owner in OWNERS}
        for person in PEOPLE:
            home.people.add(person)
        world = World(held=held, secrets=_keys(home), grants=_grants(home, held))
    for owner in OWNERS:
        _tamper(folder, held[owner])
    (folder / "world.json").write_text(json.dumps(asdict(world)), encoding="utf-8")
    return world


def load(folder: Path) -> World:
    """The world of a home that was built before."""
    kept = json.loads((folder / "world.json").read_text(encoding="utf-8"))
    held = {owner: Held(**parts) for owner, parts in kept["held"].items()}
    return World(held=held, secrets=kept["secrets"], grants=kept["grants"])


def enter(home: Recollectum, world: World, caller: str) -> Recollectum | None:
    """The home as one of the callers sees it; None when they are not let in."""
    if caller == "operator":
        return home
    if caller == "acting":
        return home.as_person("user:alice")
    try:
        return home.login(world.secrets[caller])
    except Denied:
        return None


def _fill(home: Recollectum, clock: Turning, owner: str) -> Held:
    vault = home.vault(owner)
    memories: dict[str, str] = {}
    for place in sorted(STATES, key=lambda place: -SAVED_BEFORE.get(place, 0)):
        _walk_to(home, clock, THEN - timedelta(days=SAVED_BEFORE.get(place, 0)), owner)
        memories[place] = _save(vault, owner, place)
    sessions = [_talk(vault, owner, number) for number in (0, 1)]
    messages = [message.id for session in sessions for message in vault.sessions.chat(session).transcript()]
    _walk_to(home, clock, THEN + timedelta(days=1), owner)
    # Restored at the end of its grace window only by a caller whom the clock fools.
    vault.memories.forget(memories["pending"])
    _walk_to(home, clock, NOW - timedelta(days=1), owner)
    vault.memories.move(memories["archived"], "archived")
    vault.memories.forget(memories["soft_deleted"])
    successor = vault.memories.supersede(memories["superseded"], f"{COMMON} {canary(owner, 'successor')}")
    clock.now = THEN - timedelta(days=160)
    return Held(memories={**memories, "successor": successor.id}, sessions=sessions, messages=messages)


def _walk_to(home: Recollectum, clock: Turning, when: datetime, owner: str) -> None:
    walk(home, clock, when, owner)


def _save(vault: Vault, owner: str, place: str) -> str:
    ttl = timedelta(days=5) if place == "expired" else None
    return vault.memories.save(f"{COMMON} {canary(owner, place)}", key=f"k_{place}", ttl=ttl).id


def _talk(vault: Vault, owner: str, number: int) -> str:
    word = canary(owner, f"talk{number}")
    chat = vault.sessions.open(channel=f"place{number}")
    call = ToolCall(id="call", name="look", args={"for": word})
    chat.add("user", f"{COMMON} {word}", native_id="first", thoughts=[{"text": word}], extra={"word": word})
    chat.add("assistant", f"{COMMON} {word} too", tool_calls=[call])
    chat.describe(title=word, summary=word)
    return chat.id


def _keys(home: Recollectum) -> dict[str, str]:
    secrets = {name: home.keys.add(f"user:{name}")[1] for name in ("alice", "bob")}
    secrets |= {person.partition(":")[2]: home.keys.add(person)[1] for person in PEOPLE}
    secrets["alice_reads"] = home.keys.add("user:alice", permissions=("read",))[1]
    key, secrets["revoked"] = home.keys.add("user:alice")
    home.keys.revoke(key.id)
    secrets["made_up"] = "rk_" + "A" * 43
    return secrets


def _grants(home: Recollectum, held: dict[str, Held]) -> dict[str, str]:
    session = held["user:alice"].sessions[0]
    granted = {
        "carol": home.keys.add_grant("user:carol", "user:alice", "read"),
        "dave": home.keys.add_grant("user:dave", "user:alice", "read", scope="session", session_id=session),
        "erin": home.keys.add_grant("user:erin", "global", "read", scope="global"),
        # Two grants of different reach: neither may lend its reach to the other.
        "frank_bob": home.keys.add_grant("user:frank", "user:bob", "read"),
        "frank_alice": home.keys.add_grant("user:frank", "user:alice", "read", scope="session", session_id=session),
    }
    withdrawn = home.keys.add_grant("user:grace", "user:alice", "read")
    home.keys.revoke_grant(withdrawn.id)
    return {name: grant.id for name, grant in granted.items()}


def _tamper(folder: Path, held: Held) -> None:
    """Rows that only a crash or a fault leaves: their pieces are in the index although they may not be served."""
    successor, superseded, pending = (held.memories[place] for place in ("successor", "superseded_row", "pending_row"))
    statements = (
        "UPDATE memories SET state = 'hard_delete_pending', deleted_at = 1, hard_delete_at = 2, due_at = 2"
        f" WHERE id = '{pending}'",
        f"UPDATE memories SET superseded_by = '{successor}' WHERE id = '{superseded}'",
    )
    if database := database_of(folder / "home"):
        change_rows(database, statements)
        return
    for path in (folder / "home" / "vaults").glob("*.db"):
        connection = apsw.Connection(str(path))
        for statement in statements:
            connection.execute(statement)
        connection.close()
