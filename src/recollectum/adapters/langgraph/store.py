"""Keeps the items of a LangGraph store in a vault, each as one memory."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from recollectum.adapters.documents import Document, Documents, ask_steps, scores_of
from recollectum.adapters.langgraph.filters import fits, matches

if TYPE_CHECKING:
    from recollectum.domain.message import Json
    from recollectum.vault.vault import Vault

Namespace = tuple[str, ...]

#: The agent under whose name the items are kept, for retention rules and quarantine.
AGENT = "langgraph"
_KIND = "lg"
#: The most hits of a recall, unless the settings say otherwise.
_MOST_HITS = 1000
#: The time to live begins anew only when so much of it has passed, so that not every read writes.
_PASSED = 0.05


class RecollectumStore(BaseStore):
    """A LangGraph store in a vault: search is by words and by meaning, and a deleted item can be restored.

    Give a vault, or a function that returns the vault of a namespace, such as the one of the person that a label names.
    """

    supports_ttl = True

    def __init__(self, vault: "Vault | Callable[[Namespace], Vault]", *, ttl: TTLConfig | None = None) -> None:
        self._vault_of: Callable[[Namespace], Vault] = vault if callable(vault) else lambda _: vault
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations: first all reads, then the writes, of which the last one for an item counts."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in asked]
        self._write(op for op in asked if isinstance(op, PutOp))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations in a thread; see `batch`."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        return self._search(op) if isinstance(op, SearchOp) else self._list_namespaces(op)

    def _documents(self, namespace: Namespace) -> tuple["Vault", Documents]:
        vault = self._vault_of(namespace)
        return vault, Documents(vault, _KIND, AGENT)

    def _get(self, op: GetOp) -> Item | None:
        vault, documents = self._documents(op.namespace)
        found = documents.find(op.namespace, op.key)
        if found is None:
            return None
        if op.refresh_ttl:
            _renew(vault, documents, found)
        return Item(
            value=_value(found),
            key=found.name,
            namespace=found.folder,
            created_at=found.memory.created_at,
            updated_at=found.memory.updated_at,
        )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        vault, documents = self._documents(op.namespace_prefix)
        found = _recalled(vault, documents, op) if op.query else ((one, None) for one in _listed(documents, op))
        shown = list(islice(found, op.offset, op.offset + op.limit))
        if op.refresh_ttl:
            for document, _ in shown:
                _renew(vault, documents, document)
        return [
            SearchItem(
                namespace=document.folder,
                key=document.name,
                value=_value(document),
                created_at=document.memory.created_at,
                updated_at=document.memory.updated_at,
                score=score,
            )
            for document, score in shown
        ]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        prefix = next((tuple(one.path) for one in conditions if one.match_type == "prefix"), ())
        # Only the labels before the first `*` are known.
        known = prefix[: prefix.index("*")] if "*" in prefix else prefix
        _, documents = self._documents(known)
        found = {one.folder for one in documents.list(known) if matches(one.folder, conditions)}
        if op.max_depth is not None:
            found = {namespace[: op.max_depth] for namespace in found}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _write(self, ops: Iterable[PutOp]) -> None:
        last = {(op.namespace, op.key): op for op in ops}
        by_vault: dict[str, tuple[Documents, list[PutOp]]] = {}
        for op in last.values():
            vault, documents = self._documents(op.namespace)
            by_vault.setdefault(str(vault.owner), (documents, []))[1].append(op)
        for documents, wanted in by_vault.values():
            documents.save(
                (op.namespace, op.key, _body(op), None if op.ttl is None else timedelta(minutes=op.ttl))
                for op in wanted
                if op.value is not None
            )
            for op in wanted:
                if op.value is None:
                    documents.forget(op.namespace, op.key)


def _recalled(vault: "Vault", documents: Documents, op: SearchOp) -> list[tuple[Document, float]]:
    """Return the items that recall finds for a query, best first."""
    wanted = op.offset + op.limit
    found: list[tuple[Document, float]] = []
    for limit in ask_steps(wanted, _MOST_HITS):
        hits = vault.recall(op.query or "", limit=limit, source="memories", untrusted=True)
        scores = scores_of(hits)
        kept = (one for one in documents.of_memories(list(scores)) if _is_indexed(one) and _is_wanted(one, op))
        found = [(one, scores[one.memory.id]) for one in islice(kept, wanted)]
        if len(found) == wanted or len(hits) < limit:
            break
    return found


def _listed(documents: Documents, op: SearchOp) -> Iterator[Document]:
    return (one for one in documents.list(op.namespace_prefix) if _is_wanted(one, op))


def _is_wanted(document: Document, op: SearchOp) -> bool:
    prefix = op.namespace_prefix
    return document.folder[: len(prefix)] == prefix and fits(_value(document), op.filter)


def _body(op: PutOp) -> "dict[str, Json]":
    body: dict[str, Json] = {"value": cast("dict[str, Json]", dict(op.value or {}))}
    if op.ttl is not None:
        body["minutes"] = op.ttl
    if op.index is False:
        body["index"] = False
    return body


def _value(document: Document) -> dict[str, Any]:
    value = document.body.get("value")
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _is_indexed(document: Document) -> bool:
    return document.body.get("index") is not False


def _renew(vault: "Vault", documents: Documents, document: Document) -> None:
    """Let the time to live begin anew, as LangGraph counts it from the last access."""
    minutes, ends = document.body.get("minutes"), document.memory.expires_at
    if not isinstance(minutes, int | float) or ends is None:
        return
    whole = timedelta(minutes=minutes)
    if ends - vault.admin.clock().now < (1 - _PASSED) * whole:
        documents.renew(document, whole)
