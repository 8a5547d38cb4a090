"""Keeps the checkpoints of LangGraph threads in a vault."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from recollectum.adapters.langgraph.awaited import AwaitedSaver
from recollectum.adapters.langgraph.pruning import Lineage, Place, by_place, written
from recollectum.adapters.langgraph.thread_log import MARGIN, Blob, ThreadLog, ThreadRecord, ThreadView

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from recollectum.domain.message import Json
    from recollectum.vault.vault import Vault

_STRATEGIES = ("keep_latest", "delete")


class RecollectumSaver(AwaitedSaver):
    """A LangGraph checkpointer in a vault: a thread is a session, and deleting it leaves no byte of it.

    Give a vault, or a function that returns the vault of a thread id.
    """

    def __init__(self, vault: "Vault | Callable[[str], Vault]", *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._vault = vault
        #: The log that was used last: it remembers the sessions that were written to.
        self._last: ThreadLog | None = None

    def get_tuple(self, config: "RunnableConfig") -> CheckpointTuple | None:
        """Return the checkpoint of a config, or the latest of its thread and namespace."""
        thread, namespace = _thread(config), _namespace(config)
        wanted = get_checkpoint_id(config)
        found = self._log(thread).read(thread, lambda view: _nearest(view, namespace, wanted))
        return self._tuple(thread, max(found), found) if found else None

    def list(
        self,
        config: "RunnableConfig | None",
        *,
        filter: dict[str, Any] | None = None,
        before: "RunnableConfig | None" = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Return checkpoints, newest first: of one thread, or of all threads of the vault."""
        threads = [_thread(config)] if config else self._log(None).threads()
        namespace = _named(config).get("checkpoint_ns") if config else None
        wanted = get_checkpoint_id(config) if config else None
        end = get_checkpoint_id(before) if before else None
        every: list[tuple[str, str, Place, dict[Place, list[ThreadRecord]]]] = []
        for thread in threads:
            found = self._log(thread).read(thread, lambda view: by_place(view.forward()))
            every += [(place[1], thread, place, found) for place in found if namespace in (None, place[0])]
        every.sort(key=lambda one: one[0], reverse=True)
        tuples = (
            self._tuple(thread, place, found)
            for checkpoint_id, thread, place, found in every
            if wanted in (None, checkpoint_id) and (end is None or checkpoint_id < end)
        )
        kept = (one for one in tuples if _has(one.metadata, filter))
        return islice(kept, limit)

    def put(
        self,
        config: "RunnableConfig",
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002  (every checkpoint is stored whole)
    ) -> "RunnableConfig":
        """Store a checkpoint with its metadata; one of the same id is replaced."""
        thread, namespace = _thread(config), _namespace(config)
        head: dict[str, Json] = {"ns": namespace, "id": checkpoint["id"], "parent": get_checkpoint_id(config)}
        known = get_checkpoint_metadata(config, metadata)
        self._log(thread).add(thread, [(head, [self._dump(checkpoint), self._dump(known)])])
        return _config(thread, namespace, checkpoint["id"])

    def put_writes(
        self, config: "RunnableConfig", writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of one task; those that are there already stay, except errors and interrupts."""
        thread = _thread(config)
        places: list[Json] = [[WRITES_IDX_MAP.get(channel, at), channel] for at, (channel, _) in enumerate(writes)]
        head: dict[str, Json] = {
            "ns": _namespace(config),
            "id": get_checkpoint_id(config),
            "task": task_id,
            "path": task_path,
            "places": places,
        }
        self._log(thread).add(thread, [(head, [self._dump(value) for _, value in writes])])

    def delete_thread(self, thread_id: str) -> None:
        """Destroy all checkpoints and writes of a thread."""
        thread = str(thread_id)
        self._log(thread).delete(thread)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints and writes of a thread to another one."""
        source, target = str(source_thread_id), str(target_thread_id)
        records = self._log(source).read(source, lambda view: [(one.head, one.blobs) for one in view.forward()])
        if records:
            self._log(target).add(target, records)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Destroy all checkpoints of threads but the latest of each namespace, or with `delete` all of them.

        Checkpoints before the latest are kept as far as its delta channels need them.
        """
        if strategy not in _STRATEGIES:
            raise ValueError(f"there is no strategy {strategy!r}; use {' or '.join(_STRATEGIES)}")
        for thread in map(str, thread_ids):
            if strategy == "delete":
                self._log(thread).delete(thread)
            else:
                self._log(thread).keep(thread, Lineage(self.serde).latest)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Destroy the checkpoints of runs, with their writes, in all threads of the vault.

        Refused, without any effect, when a checkpoint that stays has delta channels that need one of them.
        """
        runs = set(run_ids)
        if not runs:
            return
        log = self._log(None)
        chosen: dict[str, set[Place]] = {}
        for thread in log.threads():
            found = log.read(thread, lambda view: by_place(view.forward()))
            if gone := Lineage(self.serde).of_runs(found, runs):
                chosen[thread] = gone
        for thread, gone in chosen.items():
            log.keep(thread, lambda records, gone=gone: [one for one in records if one.place not in gone])

    def _log(self, thread: str | None) -> ThreadLog:
        if thread is None and callable(self._vault):
            raise ValueError("each thread has its own vault, so all threads cannot be listed; give a thread_id")
        vault = self._vault(str(thread)) if callable(self._vault) else self._vault
        log = self._last
        if log is None or log.vault is not vault:
            log = self._last = ThreadLog(vault)
        return log

    def _dump(self, value: object) -> Blob:
        return self.serde.dumps_typed(value)

    def _tuple(self, thread: str, place: Place, found: "dict[Place, list[ThreadRecord]]") -> CheckpointTuple:
        namespace, checkpoint_id = place
        records = found[place]
        record = written(records)
        checkpoint, metadata = (self.serde.loads_typed(blob) for blob in record.blobs)
        parent = record.head["parent"]
        return CheckpointTuple(
            config=_config(thread, namespace, checkpoint_id),
            checkpoint=cast("Checkpoint", checkpoint),
            metadata=cast("CheckpointMetadata", metadata),
            parent_config=_config(thread, namespace, str(parent)) if parent else None,
            pending_writes=self._writes(one for one in records if not one.is_checkpoint),
        )

    def _writes(self, records: Iterable[ThreadRecord]) -> "list[PendingWrite]":
        """Return the writes that count, in the order in which LangGraph applies them."""
        kept: dict[tuple[str, int], tuple[str, str, Blob]] = {}
        for record in records:
            task, path = str(record.head["task"]), str(record.head["path"])
            places = cast("Sequence[tuple[int, str]]", record.head["places"])
            replaces = all(channel in WRITES_IDX_MAP for _, channel in places)
            for (index, channel), blob in zip(places, record.blobs, strict=True):
                if replaces or (task, index) not in kept:
                    kept[task, index] = (path, channel, blob)
        ordered = sorted(kept.items(), key=lambda one: writes_sort_key(one[1][0], *one[0]))
        return [(task, channel, self.serde.loads_typed(blob)) for (task, _), (_, channel, blob) in ordered]


def _nearest(view: ThreadView, namespace: str, wanted: str | None) -> dict[Place, list[ThreadRecord]]:
    """Return the records of the last checkpoint in a namespace, or of the one that is wanted."""
    near: list[ThreadRecord] = []
    last = sys.maxsize
    for number, record in enumerate(view.backward()):
        if number > last:
            break
        if record.place[0] == namespace and wanted in (None, record.place[1]):
            near.append(record)
            last = min(last, number + MARGIN) if record.is_checkpoint else last
    return by_place(reversed(near))


def _has(metadata: CheckpointMetadata, wanted: dict[str, Any] | None) -> bool:
    known = cast("dict[str, Any]", metadata)
    return all(known.get(name) == value for name, value in (wanted or {}).items())


def _named(config: "RunnableConfig") -> dict[str, Any]:
    """Return what a config names; LangGraph calls no checkpointer without it."""
    return config.get("configurable", {})


def _thread(config: "RunnableConfig") -> str:
    return str(_named(config)["thread_id"])


def _namespace(config: "RunnableConfig") -> str:
    return str(_named(config).get("checkpoint_ns", ""))


def _config(thread: str, namespace: str, checkpoint_id: str) -> "RunnableConfig":
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}
