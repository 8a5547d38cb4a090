"""Has the methods of mem0's `Memory` on vaults: each user's memories are in the vault of that user."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from uuid import uuid4

from recollectum.adapters.documents import ask_steps, body_of, scores_of
from recollectum.adapters.mem0.filters import SCOPES, Fields, Refused, check_filters, check_id, fits
from recollectum.adapters.mem0.records import (
    Messages,
    Result,
    added,
    body_of_message,
    changed_body,
    fields_of,
    folder_of,
    id_of,
    lifetime,
    messages_of,
    shown,
    versions_of,
)
from recollectum.adapters.mem0.shelf import AGENT, Shelf
from recollectum.domain.notice import Notice

if TYPE_CHECKING:
    from recollectum.adapters.documents import Document
    from recollectum.domain.access.owner import Owner
    from recollectum.engine import Recollectum
    from recollectum.vault.vault import Vault

#: So many hits are looked at for each memory that is wanted: others of the vault are among them.
_SPARE = 3
_UPDATED = {"message": "Memory updated successfully!"}
#: An expiration date that is not to be changed.
UNCHANGED = "unchanged"


class RecollectumMemory:
    """mem0's memory on vaults. An id names its vault too, so that it is found without a user.

    With a `person`, as behind a key, what has no user is in the vault of that person. `on_notice` is called with what
    happened to a text on its way in, such as a secret that was replaced.
    """

    def __init__(
        self, home: "Recollectum", *, person: "Owner | None" = None, on_notice: Callable[[Notice], None] | None = None
    ) -> None:
        self._home = home
        self.shelf = Shelf(home, person)
        self._on_notice = on_notice or _nobody_asked

    @property
    def infers(self) -> bool:
        """Whether there is a language model that extracts memories."""
        return self._home.language_model is not None

    def add(
        self,
        messages: Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, object] | None = None,
        expiration_date: str | None = None,
        infer: bool = True,
    ) -> Result:
        """Add messages as memories; with `infer` a language model, if there is one, extracts what is worth keeping."""
        scope = _scope(user_id, agent_id, app_id, run_id)
        said = messages_of(messages)
        vault = self.shelf.of_ids(scope)
        if infer and self.infers:
            learned = vault.learn(said, channel=AGENT, agent=agent_id or AGENT)
            self._on_notice(learned.notice)
            return {"results": [added(id_of(one.id, vault), one.content) for one in learned.memories]}
        ttl = lifetime(expiration_date, vault)
        bodies = [body_of_message(one, scope, metadata, expiration_date) for one in said if one.get("role") != "system"]
        saved = self.shelf.documents(vault).save((folder_of(scope), str(uuid4()), body, ttl) for body in bodies)
        results: list[Result] = []
        for one in saved:
            self._on_notice(one.notice)
            # As it was stored, without secrets.
            body = body_of(one.memory.content)
            text = added(id_of(one.id, vault), str(body["memory"]))
            results.append({**text, "actor_id": body.get("actor_id"), "role": body["role"]})
        return {"results": results}

    def search(
        self, query: str, *, filters: Fields | None = None, top_k: int = 20, threshold: float = 0.0, **wrong: object
    ) -> Result:
        """Return the memories that have to do with a query, best first."""
        _refuse_scopes(wrong)
        if not query.strip():
            raise Refused("Invalid query: cannot be empty or whitespace-only.")
        if not 0 <= threshold <= 1:
            raise Refused(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
        wanted = check_filters(filters)
        vault = self.shelf.of_filters(wanted)
        found: list[Result] = []
        for limit in ask_steps(_check_top(top_k), _SPARE * top_k):
            hits = vault.recall(query, limit=limit, source="memories", untrusted=True)
            scores = scores_of(hit for hit in hits if hit.score >= threshold)
            kept = (one for one in self.shelf.load_many(vault, list(scores)) if fits(fields_of(one), wanted))
            found = [{**shown(one, vault), "score": scores[one.memory.id]} for one in islice(kept, top_k)]
            if len(found) == top_k or len(hits) < limit:
                break
        return {"results": found}

    def get_all(self, *, filters: Fields | None = None, top_k: int = 20, **wrong: object) -> Result:
        """Return the memories that a filter takes, newest first."""
        _refuse_scopes(wrong)
        wanted = check_filters(filters)
        vault = self.shelf.of_filters(wanted)
        kept = (one for one in self.shelf.everything(vault) if fits(fields_of(one), wanted))
        return {"results": [shown(one, vault) for one in islice(kept, _check_top(top_k))]}

    def get(self, memory_id: str) -> Result | None:
        """Return one memory, or None."""
        found = self.shelf.find(memory_id)
        return None if found is None else shown(found[1], found[0])

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, object] | None = None,
        expiration_date: str | None = UNCHANGED,
    ) -> dict[str, str]:
        """Change a memory; the previous version is kept. Metadata is merged; None takes an expiration date away."""
        vault, document = self.shelf.get(memory_id)
        _check_change(document, text, metadata, expiration_date)
        if not document.name:
            changed = vault.memories.edit(document.memory.id, text, version=document.memory.version)
        elif expiration_date == UNCHANGED:
            known = document.body.get("expiration_date")
            body = changed_body(document, text, metadata, str(known) if known else None)
            changed = self.shelf.documents(vault).edit(document, body)
        else:
            body, ttl = changed_body(document, text, metadata, expiration_date), lifetime(expiration_date, vault)
            (changed,) = self.shelf.documents(vault).save([(document.folder, document.name, body, ttl)])
        self._on_notice(changed.notice)
        return _UPDATED

    def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory; it can be restored until its grace window ends."""
        vault, document = self.shelf.get(memory_id)
        self.shelf.documents(vault).forget_memory(document.memory)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        *,
        app_id: str | None = None,
    ) -> dict[str, str]:
        """Delete all memories of a user, an agent, an app or a run."""
        scope = _scope(user_id, agent_id, app_id, run_id)
        self.shelf.forget(self.shelf.of_ids(scope), scope)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Result]:
        """Return the versions of a memory, oldest first."""
        found = self.shelf.find(memory_id)
        return [] if found is None else list(versions_of(memory_id, *found))

    def update_many(self, changes: Sequence[tuple[str, str | None, Mapping[str, object] | None]]) -> None:
        """Change memories by id, text and metadata; when one of them is refused, none is changed."""
        found = [(*self.shelf.get(memory_id), text, metadata) for memory_id, text, metadata in changes]
        for _, document, text, metadata in found:
            _check_change(document, text, metadata, UNCHANGED)
        for memory_id, text, metadata in changes:
            self.update(memory_id, text, metadata)

    def delete_many(self, memory_ids: Sequence[str]) -> None:
        """Delete memories; when one of them is not there, none is deleted."""
        found: list[tuple[Vault, Document]] = [self.shelf.get(one) for one in memory_ids]
        for vault, document in found:
            self.shelf.documents(vault).forget_memory(document.memory)


def _nobody_asked(_: Notice) -> None:
    """Drop a notice: mem0 has no place for one."""


def _scope(user_id: str | None, agent_id: str | None, app_id: str | None, run_id: str | None) -> dict[str, str]:
    given = {"user_id": user_id, "agent_id": agent_id, "app_id": app_id, "run_id": run_id}
    scope = {name: check_id(name, value) for name, value in given.items() if value is not None}
    if not scope:
        raise Refused("At least one of user_id, agent_id, app_id or run_id must be provided.")
    return scope


def _refuse_scopes(wrong: Mapping[str, object]) -> None:
    for name in wrong:
        cure = f"use filters={{'{name}': ...}}" if name in SCOPES else "leave it out"
        raise Refused(f"The parameter {name!r} is not supported here; {cure}.")


def _check_top(top_k: int) -> int:
    if isinstance(top_k, bool) or top_k < 0:
        raise Refused(f"Invalid top_k: {top_k}. Must be a non-negative integer.")
    return top_k


def _check_change(
    document: "Document", text: str | None, metadata: Mapping[str, object] | None, expiration_date: str | None
) -> None:
    if text is None and metadata is None and expiration_date == UNCHANGED:
        raise Refused("At least one of text, metadata, or expiration_date must be provided.")
    if text is not None and not text.strip():
        raise Refused("the text is empty; give it at least one word, or delete the memory")
    if not document.name and (text is None or metadata is not None or expiration_date != UNCHANGED):
        # The words of a model that extracted it, or of the person: a plain memory of the vault.
        raise Refused("this memory was not added with metadata by mem0; change its text alone")
