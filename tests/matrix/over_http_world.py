"""The world of the matrix with what only its doors show, and everybody who may come to them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.memory import Kind
from recollectum.domain.proposal import Act, Finding
from recollectum.doors.mcp.knowledge_graph import nodes
from recollectum.vault.purge.request import PurgeRequest
from tests.matrix import oracle, world
from tests.matrix.homes import Turning, open_home
from tests.matrix.world import NOW, OWNERS, Held, World, canary

#: What stands in the vaults of these two beside the rest.
FURNISHED = ("user:alice", "user:bob")
FURTHER = ("learned", "node", "proposed")
TOKEN = "local-token-of-this-run-" + "t" * 40

#: What each caller may do with each owner's vault, beside what the rules of the in-process matrix say.
RIGHTS = {
    **oracle.RIGHTS,
    # A key that was made for another owner as well, to write or only to read there.
    "heidi": {"user:heidi": "write", "user:bob": "write"},
    "bob_named": {"user:bob": "read", "user:alice": "read"},
    "admin": {"user:alice": "write"},
}
#: Whose person each caller is, when no owner is named; nobody stands behind the bare local token.
PERSONS: dict[str, str | None] = {
    **{caller: f"user:{caller.partition('_')[0]}" for caller in RIGHTS},
    "operator": None,
    "acting": "user:alice",
    "admin": "user:alice",
}
#: Who is not let in at all.
STRANGERS = (
    "nobody",
    "empty",
    "made_up",
    "revoked",
    "rotated",
    "basic",
    "other_scheme",
    "shortened",
    "in_the_query",
    "as_a_cookie",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """What one furnished vault holds beside the rest, by id."""

    learning: str
    proposal: str
    receipt: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All that the checks have to know."""

    world: World
    things: dict[str, Things]
    secrets: dict[str, str]

    def held(self, owner: str) -> Held:
        """What one owner's vault holds."""
        return self.world.held[owner]


def furnish(folder: Path) -> None:
    """Make the home and leave it closed."""
    made = world.build(folder)
    with open_home(folder, Turning(NOW)) as home:
        secrets, keys = _keys(home)
        things = {owner: _things(home, made, owner, keys[owner]) for owner in FURNISHED}
    written = {"things": {owner: asdict(one) for owner, one in things.items()}, "secrets": made.secrets | secrets}
    (folder / "scene.json").write_text(json.dumps(written), encoding="utf-8")


def load(folder: Path) -> Scene:
    """The scene of a home that was furnished before."""
    kept = json.loads((folder / "scene.json").read_text(encoding="utf-8"))
    things = {owner: Things(**parts) for owner, parts in kept["things"].items()}
    return Scene(world=world.load(folder), things=things, secrets=kept["secrets"])


def words(owner: str) -> dict[str, str]:
    """Every canary of one owner, by place."""
    return {**world.canaries(owner), **{place: canary(owner, place) for place in FURTHER}}


def ids(scene: Scene, owner: str) -> set[str]:
    """Every id in one owner's vault that nobody else may learn."""
    held = scene.held(owner)
    found = {*held.memories.values(), *held.sessions, *held.messages}
    extra = scene.things.get(owner)
    return found | ({extra.learning, extra.proposal, extra.receipt} if extra else set())


def seen(text: str) -> set[tuple[str, str]]:
    """The canaries in a text, as owner and place."""
    return {(owner, place) for owner in OWNERS for place, word in words(owner).items() if word in text}


def _keys(home: Recollectum) -> tuple[dict[str, str], dict[str, str]]:
    home.people.add("user:heidi")
    old, rotated = home.keys.add("user:alice")
    home.keys.rotate(old.id)
    alice, admin = home.keys.add("user:alice", permissions=("read", "write", "admin"))
    bob, named = home.keys.add("user:bob", permissions=("read",), owners=("user:alice",))
    secrets = {"rotated": rotated, "admin": admin, "bob_named": named}
    secrets["heidi"] = home.keys.add("user:heidi", owners=("user:bob",))[1]
    return secrets, {"user:alice": alice.id, "user:bob": bob.id}


def _things(home: Recollectum, made: World, owner: str, key: str) -> Things:
    vault = home.vault(owner)
    learned = vault.learnings.save(canary(owner, "learned"), "pattern", agent=None, shared=True)
    name, said = canary(owner, "node"), vault.sessions.chat(made.held[owner].sessions[0]).messages(limit=1)[0].id
    items = (nodes.entity(name, "thing", ["seen"]), nodes.relation({"from": name, "to": name, "relationType": "is"}))
    vault.memories.save_many([nodes.draft(one, message_id=said, agent=None) for one in items])
    finding = Finding(
        act=Act.ADD, content=canary(owner, "proposed"), kind=Kind.FACT, importance=0.5, spans=(), targets=()
    )
    (proposal,) = vault.admin.review.propose([finding])
    gone = vault.memories.save("this goes again").memory
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(gone.id)).token)
    return Things(learning=learned.id, proposal=proposal.id, receipt=receipt.id, key=key)
