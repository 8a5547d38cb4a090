"""Mistakes one could make in the code, each of which the matrix has to notice."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patch:
    """One place of the source, and what a careless hand would leave there."""

    #: The file, or the folder where one file has it.
    where: str
    old: str
    new: str


_ACCESS = "policy/access.py"
_ENGINE = "engine.py"
_GATE = "vault/gate.py"
_KEYS = "vault/access/keys.py"
_SEARCH = "storage/tables/index"
_MEMORIES = "vault/memories/service.py"
_LIFE = "policy/lifecycle.py"
_CLOCK = "policy/clock.py"

ACCESS: Mapping[str, tuple[Patch, ...]] = {
    "what no grant covers is allowed": (
        Patch(_ACCESS, 'return AccessDecision(False, f"no grant', 'return AccessDecision(True, f"no grant'),
    ),
    "a grant covers every owner": (
        Patch(_ACCESS, "if grant.owner != owner.person or grant.permission", "if grant.permission"),
    ),
    "a grant for one session covers all sessions": (
        Patch(_ACCESS, " and session_id is not None and grant.session_id == session_id", ""),
    ),
    "a grant for one session covers the vault": (
        Patch(
            _ACCESS,
            "return scope is Scope.SESSION and session_id is not None and grant.session_id == session_id",
            "return True",
        ),
    ),
    "a grant to read covers writing": (Patch(_ACCESS, " or grant.permission is not permission", ""),),
    "a grant for everybody's vault is asked for less": (
        Patch(_ACCESS, "Scope.GLOBAL if owner.kind is OwnerKind.GLOBAL else scope", "scope"),
    ),
    "a read-only key may write": (Patch(_ACCESS, "if permission not in caller.permissions:", "if False:"),),
    "anybody runs the home": (
        Patch(_ACCESS, 'Decision(False, "that is for the operator', 'Decision(True, "that is for the operator'),
        Patch(
            _ACCESS,
            "if permission not in caller.permissions:",
            "if permission is not Permission.ADMIN and permission not in caller.permissions:",
        ),
    ),
    "all people share their data": (
        Patch(
            _ACCESS,
            '    if owner.person == caller.person:\n        return AccessDecision(True, "own data")',
            "    if caller.person and owner.kind == caller.person.kind:\n"
            '        return AccessDecision(True, "own data")',
        ),
    ),
    "a vault is handed out unseen": (Patch(_ENGINE, "if not may_see(caller, wanted):", "if False:"),),
    "anybody learns which file is whose": (
        Patch(
            _ENGINE,
            "self._runtime.find_vault(wanted) if may_see(self._caller_now(), wanted) else None",
            "self._runtime.find_vault(wanted)",
        ),
    ),
    "owners lists everybody": (Patch(_ENGINE, " if may_see(caller, entry.owner)]", "]"),),
    "acting for somebody acts as the operator": (
        Patch(
            _ENGINE,
            "look_up = partial(caller_for, self._runtime.known, owner)",
            "look_up = lambda: self.caller",
        ),
    ),
    "anybody acts for anybody": (Patch(_ENGINE, "if not self.caller.operator:", "if False:"),),
    "the agent is forgotten": (Patch(_ENGINE, "/agent:{agent or 'main'}", "/agent:main"),),
    "a revoked key opens": (Patch(_KEYS, "if found is None or _has_ended(found[0], latest):", "if found is None:"),),
    "a key makes an operator": (Patch(_KEYS, "            person=key.person,\n", "            person=None,\n"),),
    "a key brings everybody's grants": (
        Patch(
            "storage/tables/catalog/keys.py",
            "     WHERE grantee = :grantee ORDER BY id",
            "     WHERE :grantee > '' ORDER BY id",
        ),
    ),
    "every vault can be seen": (
        Patch(_ACCESS, "return any(grant.owner == owner.person for grant in caller.grants)", "return True"),
    ),
    "the gate stays open": (Patch(_GATE, "if not decision.allowed:", "if False:"),),
    "an operation forgets the gate": (
        Patch(_MEMORIES, "    @operation(Action.MEMORY_READ, Scope.USER)\n    def history(", "    def history("),
    ),
    "a conversation forgets which one it is": (
        Patch(_GATE, "wanted = self.session_id or session_id", "wanted = session_id"),
    ),
    "two owners share one vault": (
        Patch(
            "storage/tables/catalog/vaults.py",
            'rows = tx.rows(_ONE, {"owner": str(owner)})\n    return',
            'rows = tx.rows(_ONE, {"owner": "user:alice" if owner.kind == "user" else str(owner)})\n    return',
        ),
        Patch("storage/sqlite/engine.py", " != str(owner):", " is None:"),
    ),
}

SERVING: Mapping[str, tuple[Patch, ...]] = {
    "recall forgets the state": (
        Patch(_SEARCH, "memories.state = 'active' AND (memories.archive_at IS NULL", "(memories.archive_at IS NULL"),
    ),
    "recall forgets what was superseded": (Patch(_SEARCH, "memories.superseded_by IS NULL\n", "1\n"),),
    "recall forgets deadlines": (Patch(_SEARCH, "memories.expires_at > :now", "1"),),
    "recall forgets the archive's deadline": (Patch(_SEARCH, "memories.archive_at > :policy_now", "1"),),
    "recall forgets which session": (
        Patch(_SEARCH, "OR messages.session_id = :session_id", "OR 1"),
        Patch(_SEARCH, "WHERE messages.session_id = :session_id", "WHERE 1"),
    ),
    "a page shows every state": (
        Patch("storage/tables/content/memory_pages.py", "WHERE state = '{state}' AND kind", "WHERE kind"),
        Patch("storage/tables/content/memory_pages.py", ":walked\n       AND state = 'active'", ":walked\n"),
    ),
    "a key finds what is not active": (
        Patch(
            _MEMORIES,
            "return memory if memory and state_at(memory, reading) is State.ACTIVE else None",
            "return memory",
        ),
    ),
    "readers wait for the sweep to expire": (
        Patch(
            _LIFE,
            "case State.ACTIVE | State.ARCHIVED if _past(memory.expires_at, reading.now):",
            "case State.ACTIVE | State.ARCHIVED if False:",
        ),
    ),
    "readers wait for the sweep to archive": (
        Patch(
            _LIFE, "case State.ACTIVE if _past(memory.archive_at, reading.policy_now):", "case State.ACTIVE if False:"
        ),
    ),
    "the id of a deleted memory reads it": (
        Patch(
            _MEMORIES,
            "    state = state_at(memory, reading)\n    _check_live(memory, state)\n",
            "    state = state_at(memory, reading)\n",
        ),
    ),
    "history reads a deleted memory": (
        Patch(
            _MEMORIES,
            "memory = get_live_memory(tx, memory_id, reading)\n            return History",
            "memory = _get_memory(tx, memory_id)\n            return History",
        ),
    ),
    "as_of reads a deleted memory": (
        Patch(_MEMORIES, "visible = state_at(memory, reading) in LIVE", "visible = True"),
    ),
    "a context forgets the state": (
        Patch(
            "storage/tables/learning/profiles.py",
            "WHERE state = 'active' AND superseded_by IS NULL AND kind =",
            "WHERE kind =",
        ),
        # The profile looks once more.
        Patch(
            "distil/reconciliation.py",
            "return [one for one in known if one.state is State.ACTIVE and one.superseded_by is None]",
            "return list(known)",
        ),
    ),
    "archived can be changed": (Patch(_MEMORIES, "if memory.state is State.ARCHIVED:", "if False:"),),
    "an error repeats the content": (
        Patch(
            _MEMORIES, 'NotFound(f"memory {memory.id!r} is deleted', 'NotFound(f"memory {memory.content!r} is deleted'
        ),
    ),
    "the trail repeats the content": (
        Patch(
            "vault/memories/changes.py",
            '{"version": memory.version}',
            '{"version": memory.version, "c": memory.content}',
        ),
    ),
    "a call changes another session": (
        Patch("vault/sessions/chat.py", "if message is None or message.session_id != self.id:", "if message is None:"),
    ),
}

TIME: Mapping[str, tuple[Patch, ...]] = {
    "time goes back": (
        Patch(
            _CLOCK,
            "return ClockState(floor=state.floor), certain_reading(state.floor)",
            "return ClockState(floor=wall), certain_reading(wall)",
        ),
    ),
    "time is not written down": (Patch("vault/runtime.py", "        if crossed:\n", "        if False:\n"),),
    "every leap is believed": (Patch(_CLOCK, "if wall - state.floor <= leap or", "if True or"),),
    "a leap is swept": (Patch("vault/retention/lifecycle.py", "if reading.held:", "if False:"),),
    "the trash has no bottom": (
        Patch(_LIFE, "not in (State.ARCHIVED, State.SOFT_DELETED, State.ACTIVE):", "is None:"),
        Patch(
            "domain/memory.py",
            "State.HARD_DELETE_PENDING: frozenset({State.PURGED}),",
            "State.HARD_DELETE_PENDING: frozenset({State.PURGED, State.ACTIVE}),",
        ),
    ),
    "there is no grace": (Patch(_LIFE, "later(now, rules.grace)", "now"),),
    "nothing is destroyed": (
        Patch(_LIFE, "case State.HARD_DELETE_PENDING:\n", "case State.HARD_DELETE_PENDING if False:\n"),
    ),
    "a deadline is forgotten when it is given": (
        Patch(
            "vault/memories/saving.py",
            "        expires_at=expires_at,\n        **times",
            "        **times",
        ),
    ),
}

MUTANTS: Mapping[str, tuple[Patch, ...]] = {**ACCESS, **SERVING, **TIME}
