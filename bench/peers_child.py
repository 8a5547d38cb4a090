"""Writes texts to one other memory system and asks it questions, in an environment of that system: JSON in, JSON out.

Only the standard library is imported here, because our packages are not installed there. Vectors come with the texts,
so that every system compares the same ones and no time is spent on a model. Processor time of all threads is measured.
"""

import asyncio
import contextlib
import hashlib
import importlib
import importlib.metadata
import json
import os
import re
import sqlite3
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Protocol

_WORD = re.compile(r"\w+")
_COLLECTION = "bench"


class Peer(Protocol):
    """One system with one space for each person."""

    def add(self, space: str, name: str, text: str) -> None:
        """Write one text."""
        ...

    def search(self, space: str, text: str, most: int) -> list[str]:
        """Return the names of the texts that answer best, the best first."""
        ...

    def delete(self, space: str, name: str) -> None:
        """Delete one text as the system's documentation says."""
        ...

    def close(self) -> None:
        """Close what is open, where the system has a call for it."""
        ...


def _nothing() -> None:
    """Do nothing."""


class Vectors:
    """The vectors of all texts and questions, by their words: some systems strip the spaces around a text."""

    def __init__(self, known: dict[str, list[float]]) -> None:
        self._known = {" ".join(text.split()): vector for text, vector in known.items()}

    def one(self, text: str) -> list[float]:
        """Return the vector of one text."""
        return self._known[" ".join(text.split())]

    def many(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of several texts."""
        return [self.one(text) for text in texts]

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return len(next(iter(self._known.values())))


class TextFile:
    """A text file for each person; the lines with most words of the question come first, the newest of equals first."""

    def __init__(self, folder: Path, _: Vectors) -> None:
        self._folder = folder

    def add(self, space: str, name: str, text: str) -> None:
        """Append a line."""
        with (self._folder / f"{space}.txt").open("a", encoding="utf-8") as file:
            file.write(f"{name}\t{' '.join(text.split())}\n")

    def search(self, space: str, text: str, most: int) -> list[str]:
        """Count the words of each line that are in the question."""
        asked = set(_WORD.findall(text.lower()))
        lines = (self._folder / f"{space}.txt").read_text("utf-8").splitlines()
        found = [(len(asked & set(_WORD.findall(line.lower()))), line.partition("\t")[0]) for line in reversed(lines)]
        return [name for count, name in sorted(found, key=lambda one: -one[0])[:most] if count]

    def delete(self, space: str, name: str) -> None:
        """Write the file again without the line."""
        path = self._folder / f"{space}.txt"
        lines = path.read_text("utf-8").splitlines(keepends=True)
        path.write_text("".join(line for line in lines if line.partition("\t")[0] != name), "utf-8")

    def close(self) -> None:
        """Close nothing: no file is open."""


class FullText:
    """SQLite with FTS5 and BM25: the floor."""

    def __init__(self, folder: Path, _: Vectors) -> None:
        self._rows = sqlite3.connect(folder / "fts.db")
        self._rows.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(space UNINDEXED, name UNINDEXED, text, tokenize='porter')"
        )

    def add(self, space: str, name: str, text: str) -> None:
        """Insert a row."""
        with self._rows:
            self._rows.execute("INSERT INTO texts VALUES (?, ?, ?)", (space, name, text))

    def search(self, space: str, text: str, most: int) -> list[str]:
        """Rank the rows that have any word."""
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(text))
        sql = "SELECT name FROM texts WHERE texts MATCH ? AND space = ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self._rows.execute(sql, (words, space, most))]

    def delete(self, space: str, name: str) -> None:
        """Delete a row."""
        with self._rows:
            self._rows.execute("DELETE FROM texts WHERE space = ? AND name = ?", (space, name))

    def close(self) -> None:
        """Close the database."""
        self._rows.close()


class Chroma:
    """Chroma with a collection for each person."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        chromadb: Any = importlib.import_module("chromadb")
        settings = importlib.import_module("chromadb.config").Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder), settings=settings)
        self._vectors = vectors

    def add(self, space: str, name: str, text: str) -> None:
        """Add one document."""
        self._collection(space).add(ids=[name], documents=[text], embeddings=[self._vectors.one(text)])

    def search(self, space: str, text: str, most: int) -> list[str]:
        """Query the collection."""
        return self._collection(space).query(query_embeddings=[self._vectors.one(text)], n_results=most)["ids"][0]

    def _collection(self, space: str) -> Any:  # noqa: ANN401 - not installed for type checkers
        return self._client.get_or_create_collection(space, metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def delete(self, space: str, name: str) -> None:
        """Delete one document."""
        self._collection(space).delete(ids=[name])

    def close(self) -> None:
        """Close the client, in versions that can."""
        getattr(self._client, "close", _nothing)()


class Mem0:
    """mem0 with its local Qdrant, and without its language model."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"), OPENAI_API_KEY="none")
        mem0: Any = importlib.import_module("mem0")
        embedding: Any = importlib.import_module("mem0.embeddings.openai").OpenAIEmbedding

        def embed(_: object, text: str, *__: object, **___: object) -> list[float]:
            return vectors.one(text)

        def embed_batch(_: object, texts: list[str], *__: object, **___: object) -> list[list[float]]:
            return vectors.many(texts)

        embedding.embed, embedding.embed_batch = embed, embed_batch
        store = {"path": str(folder / "qdrant"), "embedding_model_dims": vectors.dimensions, "on_disk": True}
        config = {
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(folder / "history.db"),
        }
        self._memory = mem0.Memory.from_config(config)

    def add(self, space: str, name: str, text: str) -> None:
        """Add one text as it is."""
        self._memory.add(text, user_id=space, metadata={"name": name}, infer=False)

    def search(self, space: str, text: str, most: int) -> list[str]:
        """Search the memories of one person."""
        found = self._memory.search(text, filters={"user_id": space}, top_k=most)["results"]
        return [one["metadata"]["name"] for one in found]

    def delete(self, space: str, name: str) -> None:
        """Delete one memory."""
        found = self._memory.get_all(filters={"user_id": space}, top_k=100_000)["results"]
        for one in found:
            if one["metadata"]["name"] == name:
                self._memory.delete(one["id"])

    def close(self) -> None:
        """Close the history and the local Qdrant."""
        getattr(self._memory, "close", _nothing)()
        self._memory.vector_store.client.close()


class LangGraph:
    """The SQLite store of LangGraph, with a namespace for each person."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        base: Any = importlib.import_module("langgraph.store.sqlite")
        # Its documentation says `fields`; version 3.1 reads `text_fields`.
        fields = {"fields": ["text"], "text_fields": ["text"]}
        index = {"dims": vectors.dimensions, "embed": vectors.many, **fields}
        self._rows = sqlite3.connect(folder / "store.db", check_same_thread=False, isolation_level=None)
        self._store = base.SqliteStore(self._rows, index=index)
        self._store.setup()

    def add(self, space: str, name: str, text: str) -> None:
        """Put one item."""
        self._store.put((space,), name, {"text": text})

    def search(self, space: str, text: str, most: int) -> list[str]:
        """Search a namespace."""
        return [item.key for item in self._store.search((space,), query=text, limit=most)]

    def delete(self, space: str, name: str) -> None:
        """Delete one item."""
        self._store.delete((space,), name)

    def close(self) -> None:
        """Close the database."""
        self._rows.close()


class MemPalace:
    """MemPalace with its Chroma backend, a palace for each person, and its own ranking."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        base: Any = importlib.import_module("chromadb").EmbeddingFunction

        class Known(base):
            """The vectors that were given, as Chroma and MemPalace ask for them."""

            def __init__(self) -> None:
                pass

            def __call__(self, input: list[str]) -> list[list[float]]:
                return vectors.many(list(input))

            @staticmethod
            def name() -> str:
                return "known"

        def known(*_: object, **__: object) -> Known:
            return Known()

        for module in ("mempalace.embedding", "mempalace.backends.chroma", "mempalace.backends.embedding_wrapper"):
            found: Any = importlib.import_module(module)
            for name in ("get_embedding_function", "configured_embedding_function"):
                if hasattr(found, name):
                    setattr(found, name, known)
        self._palace: Any = importlib.import_module("mempalace.palace")
        self._searcher: Any = importlib.import_module("mempalace.searcher")
        self._folder = folder
        self._open: dict[str, Any] = {}

    def add(self, space: str, name: str, text: str) -> None:
        """Add one drawer."""
        if space not in self._open:
            (self._folder / space).mkdir()
            self._open[space] = self._palace.get_collection(str(self._folder / space))
        data = {"wing": space, "room": "bench", "source_file": f"{name}.txt", "chunk_index": 0}
        self._open[space].add(ids=[name], documents=[text], metadatas=[data])

    def search(self, space: str, text: str, most: int) -> list[str]:
        """Search a palace."""
        found = self._searcher.search_memories(text, str(self._folder / space), n_results=most)
        return [one["source_file"].removesuffix(".txt") for one in found["results"]]

    def delete(self, space: str, name: str) -> None:
        """Delete one drawer."""
        self._open[space].delete(ids=[name])

    def close(self) -> None:
        """Close the palaces, in versions that can."""
        for one in self._open.values():
            getattr(one, "close", _nothing)()


class MemoryService:
    """mcp-memory-service with sqlite-vec, a file for each person."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        os.environ.update(MCP_MEMORY_BASE_DIR=str(folder), HF_HUB_OFFLINE="1")
        module: Any = importlib.import_module("mcp_memory_service.storage.sqlite_vec")
        self._kind: Any = module.SqliteVecMemoryStorage
        self._memory: Any = importlib.import_module("mcp_memory_service.models.memory").Memory

        async def no_model(storage: Any) -> None:  # noqa: ANN401 - not installed for type checkers
            storage.embedding_model, storage.embedding_dimension = object(), vectors.dimensions

        def embed(_: object, text: str) -> list[float]:
            return vectors.one(text)

        self._kind._initialize_embedding_model = no_model
        self._kind._generate_embedding = embed
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._open: dict[str, Any] = {}
        self._digests: dict[tuple[str, str], str] = {}

    def add(self, space: str, name: str, text: str) -> None:
        """Store one memory; near duplicates are stored too."""
        if space not in self._open:
            self._open[space] = self._kind(str(self._folder / f"{space}.db"))
            self._loop.run_until_complete(self._open[space].initialize())
        digest = self._digests[space, name] = hashlib.sha256(f"{name}:{text}".encode()).hexdigest()
        memory = self._memory(content=text, content_hash=digest, metadata={"name": name})
        done, why = self._loop.run_until_complete(self._open[space].store(memory, skip_semantic_dedup=True))
        if not done:
            raise RuntimeError(why)

    def search(self, space: str, text: str, most: int) -> list[str]:
        """Retrieve memories."""
        found = self._loop.run_until_complete(self._open[space].retrieve(text, n_results=most))
        return [one.memory.metadata["name"] for one in found]

    def delete(self, space: str, name: str) -> None:
        """Delete one memory by its digest."""
        self._loop.run_until_complete(self._open[space].delete(self._digests[space, name]))

    def close(self) -> None:
        """Close the databases."""
        for one in self._open.values():
            found = one.close()
            if asyncio.iscoroutine(found):
                self._loop.run_until_complete(found)


KINDS = {
    "text-file": TextFile,
    "fts5": FullText,
    "chroma": Chroma,
    "mem0": Mem0,
    "langgraph": LangGraph,
    "mempalace": MemPalace,
    "mcp-memory-service": MemoryService,
}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Write all texts, ask all questions, and return the rankings with the times."""
    vectors = Vectors(job["vectors"])
    peer: Peer = KINDS[job["peer"]](Path(job["folder"]), vectors)
    writes: list[float] = []
    for space, name, text in job["texts"]:
        began = time.process_time()
        peer.add(space, name, text)
        writes.append(time.process_time() - began)
    searches: list[float] = []
    ranked: dict[str, list[str]] = defaultdict(list)
    for space, name, text in job["questions"]:
        began = time.process_time()
        ranked[name] = peer.search(space, text, job["most"])
        searches.append(time.process_time() - began)
    if job.get("deleted"):
        space, name, text = job["deleted"]
        peer.add(space, name, text)
        if name not in peer.search(space, text, job["most"]):
            raise RuntimeError(f"{job['peer']} does not find a text by itself")
        peer.delete(space, name)
        if name in peer.search(space, text, job["most"]):
            raise RuntimeError(f"{job['peer']} still finds a text that was deleted")
    peer.close()
    version = importlib.metadata.version(job["package"]) if job["package"] else ""
    return {"version": version, "writes": writes, "searches": searches, "ranked": ranked}


if __name__ == "__main__":
    # Packages print what they like; only the answer goes to our standard output.
    with contextlib.redirect_stdout(sys.stderr):
        answer = run(json.load(sys.stdin))
    print(json.dumps(answer))
