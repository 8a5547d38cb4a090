"""The matrix: owner x caller x state x operation. Each check yields a sentence for each rule that is broken."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import Denied, NotFound, RecollectumError
from recollectum.domain.memory import State
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.matrix import oracle
from tests.matrix.homes import Turning, copy_home, open_home
from tests.matrix.operations import Attempt, attempts, reads
from tests.matrix.world import COMMON, NOW, OWNERS, STATES, Held, World, canaries, enter, load

Check = Callable[[Path], Iterator[str]]
#: A name that never had a vault, and ids that never were.
GHOST = "user:zorro"
#: Addresses of objects, and the random mark of a context's fence with the tokens it costs.
_CHANCE = re.compile(r"0x[0-9a-f]+")
_ID = re.compile(r"(mem|ses|msg)_[0-9a-z]+")


def told(work: Callable[[], object]) -> tuple[str, RecollectumError | None]:
    """Everything a caller gets to see of a call: the value, or the error with all it was raised from."""
    try:
        value = work()
    except RecollectumError as error:
        words: list[str] = []
        link: BaseException | None = error
        while link is not None:
            words.append(repr(link))
            link = link.__cause__ or link.__context__
        return " ".join(words), error
    return f"{value!r} {value!s}", None


def seen(text: str) -> set[tuple[str, str]]:
    """The canaries in a text, as owner and place."""
    return {(owner, place) for owner in OWNERS for place, word in canaries(owner).items() if word in text}


def check_reads_and_refusals(folder: Path) -> Iterator[str]:
    """Who may read sees exactly what the state allows; who may not gets no word; refused writes write nothing."""
    world = load(folder)
    with open_home(folder, Turning(NOW)) as home:
        before = {owner: contents(home, owner) for owner in OWNERS}
        for caller in oracle.RIGHTS:
            view = enter(home, world, caller)
            if view is None:
                yield f"{caller} was not let in"
                continue
            yield from _visibility(view, caller)
            for owner in oracle.RIGHTS[caller]:
                yield from _one_vault(view, caller, owner, world.held[owner])
        for owner in OWNERS:
            if contents(home, owner) != before[owner]:
                yield f"{owner}: something that was refused, or a reader, changed the vault"


def _visibility(view: Recollectum, caller: str) -> Iterator[str]:
    """What is not allowed at all looks exactly like what is not there."""
    files = _files(view)
    visible = set(oracle.RIGHTS[caller])
    if {str(owner) for owner in view.list_owners()} != visible:
        yield f"{caller}: owners() is not {sorted(visible)}"
    hidden = [owner for owner in (*OWNERS, "user:alice/agent:coder") if owner.partition("/")[0] not in visible]
    for owner in hidden:
        yield from _hidden(view, caller, owner)
    if _files(view) != files:
        yield f"{caller}: a refused vault was made"


def _hidden(view: Recollectum, caller: str, owner: str) -> Iterator[str]:
    if view.vault_place(owner) is not None:
        yield f"{caller}: the file of {owner} is named"
    for create in (True, False):
        here, error = told(lambda c=create: view.vault(owner, create=c))
        ghost, _ = told(lambda c=create: view.vault(GHOST, create=c))
        if not isinstance(error, NotFound) or here.replace(owner, GHOST) != ghost:
            yield f"{caller}: {owner} does not look like a vault that never was: {here}"


def _files(view: Recollectum) -> list[str]:
    return sorted(path.name for path in view.home.vaults.glob("*.db"))


def _one_vault(view: Recollectum, caller: str, owner: str, held: Held) -> Iterator[str]:
    vault = view.vault(owner)
    for attempt in attempts(held):
        ok = oracle.allowed(caller, owner, attempt.permission, attempt.session)
        if ok and attempt.permission == "write":
            continue  # Done later, when nothing is left to be compared.
        text, error = told(lambda a=attempt: a.run(vault))
        if ok == isinstance(error, Denied):
            yield f"{caller} in {owner}: {attempt} was {'refused' if ok else 'let through'}"
        expected = {(owner, place) for place in attempt.shows} if ok else set[tuple[str, str]]()
        if seen(text) != expected:
            yield f"{caller} in {owner}: {attempt} showed {sorted(seen(text))}, not {sorted(expected)}"


def contents(home: Recollectum, owner: str) -> str:
    """Everything the operator can read out of a vault, as one text."""
    vault = home.vault(owner)
    memories = [vault.memories.list(state=State(state), limit=1000) for state in oracle.PAGES]
    sessions = vault.sessions.list(limit=1000)
    messages = [vault.sessions.chat(session.id).transcript() for session in sessions]
    return repr(
        (
            memories,
            sessions,
            messages,
            vault.admin.events.list(limit=1000),
            vault.admin.totals(),
            vault.admin.index.verify(),
        )
    )


def check_strangers(folder: Path) -> Iterator[str]:
    """A revoked key and one that never was are nobody, and cannot be told apart."""
    world = load(folder)
    refusals: set[str] = set()
    with open_home(folder, Turning(NOW)) as home:
        for stranger in oracle.STRANGERS:
            text, error = told(lambda s=stranger: home.login(world.secrets[s]))
            refusals.add(text)
            if not isinstance(error, Denied) or world.secrets[stranger] in text:
                yield f"{stranger} was let in, or told too much"
    for stranger in oracle.STRANGERS:
        text, error = told(lambda s=stranger: open_home(folder, Turning(NOW), api_key=world.secrets[s]).close())
        refusals.add(text)
        if not isinstance(error, Denied):
            yield f"{stranger} opened the home"
    if len(refusals) != 1:
        yield f"strangers are told apart: {refusals}"


def check_foreign_ids(folder: Path) -> Iterator[str]:
    """An id of another vault is, in one's own, exactly an id that never was."""
    world = load(folder)
    with open_home(folder, Turning(NOW)) as home:
        for caller, own, other in (("alice", "user:alice", "user:bob"), ("operator", "user:bob", "user:alice")):
            view = enter(home, world, caller)
            assert view is not None
            yield from _foreign_ids(view.vault(own), world.held[other], other)


def _foreign_ids(vault: Vault, other: Held, owner: str) -> Iterator[str]:
    pairs = zip(attempts(other), attempts(_ghosts(other)), strict=True)
    for attempt, ghost in pairs:
        if not attempt.by_id:
            continue
        text, _ = told(lambda a=attempt: a.run(vault))
        never, _ = told(lambda g=ghost: g.run(vault))
        if any(found == owner for found, _ in seen(text)):
            yield f"{vault.owner}: {attempt} with an id of {owner} showed {seen(text)}"
        if _ID.sub("ID", text) != _ID.sub("ID", never):
            yield f"{vault.owner}: {attempt} tells an id of {owner} from one that never was"


def _ghosts(held: Held) -> Held:
    return Held(
        memories={place: f"mem_ghost{number}" for number, place in enumerate(held.memories)},
        sessions=[f"ses_ghost{number}" for number, _ in enumerate(held.sessions)],
        messages=[f"msg_ghost{number}" for number, _ in enumerate(held.messages)],
    )


def check_own_writes(folder: Path) -> Iterator[str]:
    """Who may write is never refused at the gate, and sees nothing of anybody else."""
    world = load(folder)
    for caller, owners in oracle.RIGHTS.items():
        if "write" not in owners.values() or caller == "operator":
            continue
        copy = copy_home(folder, folder.with_name(f"{folder.name}-{caller}"))
        with open_home(copy, Turning(NOW)) as home:
            view = enter(home, world, caller)
            assert view is not None
            for owner in owners:
                yield from _own_writes(view.vault(owner), caller, world.held[owner])


def _own_writes(vault: Vault, caller: str, held: Held) -> Iterator[str]:
    for attempt in attempts(held):
        text, error = told(lambda a=attempt: a.run(vault))
        if isinstance(error, Denied) and attempt.permission != "admin":
            yield f"{caller}: {attempt} on own data was refused"
        if any(owner != str(vault.owner) for owner, _ in seen(text)):
            yield f"{caller}: {attempt} on own data showed {seen(text)}"


def check_outcomes(folder: Path) -> Iterator[str]:
    """Each change of a memory in each state ends as the life cycle says."""
    held = load(folder).held["user:alice"]
    for number, attempt in enumerate(attempts(held)):
        expected = oracle.OUTCOMES.get(attempt.name, {}).get(attempt.place)
        if expected is None:
            continue
        copy = copy_home(folder, folder.with_name(f"{folder.name}-outcome{number}"))
        with open_home(copy, Turning(NOW)) as home:
            _, error = told(lambda a=attempt, h=home: a.run(h.vault("user:alice")))
        found = type(error).__name__ if error else "done"
        if found != expected:
            yield f"{attempt} ended with {found}, not {expected}"


def check_scores(folder: Path) -> Iterator[str]:
    """A thousand documents of somebody else change not one byte of one's own results."""
    world = load(folder)
    # What one reads is renewed when the home is closed; so everything is read once before it is compared.
    with open_home(folder, Turning(NOW)) as home:
        _everything_read(home, world, "user:alice")
    with open_home(folder, Turning(NOW)) as home:
        before = _everything_read(home, world, "user:alice")
        strangers = [Draft(content=f"{COMMON} {place} number {n}") for place in STATES for n in range(100)]
        home.vault("user:bob").memories.save_many(strangers)
        for change in _changes(before, _everything_read(home, world, "user:alice")):
            yield f"what bob wrote changed what alice reads: {change}"
    with open_home(folder, Turning(NOW)) as home:
        for change in _changes(before, _everything_read(home, world, "user:alice")):
            yield f"what bob wrote changed what alice reads after a restart: {change}"


def _everything_read(home: Recollectum, world: World, owner: str) -> list[tuple[str, str]]:
    """Every call that changes nothing, and what it tells."""
    vault = home.login(world.secrets["alice"]).vault(owner)
    told_by = [(str(one), told(lambda a=one: a.run(vault))[0]) for one in reads(world.held[owner])]
    return [(call, _CHANCE.sub("", text)) for call, text in told_by]


def _changes(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> Iterator[str]:
    for (call, old), (_, new) in zip(before, after, strict=True):
        if old != new:
            place = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
            start = max(0, place - 200)
            yield f"{call} told {old[start : place + 200]!r}, then {new[start : place + 200]!r}"


def needs(attempt: Attempt) -> tuple[str, str]:
    """What the rules say an operation needs, for the test of its declaration."""
    return attempt.permission, "user" if attempt.session is None else "session"


#: Every check gets a copy of the home that it may change.
CHECKS: dict[str, Check] = {
    "strangers": check_strangers,
    "reads and refusals": check_reads_and_refusals,
    "foreign ids": check_foreign_ids,
}
THOROUGH: dict[str, Check] = {
    "outcomes": check_outcomes,
    "own writes": check_own_writes,
    "scores": check_scores,
}
