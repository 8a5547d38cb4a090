"""mem0's own memory without a network, and the faces that are compared with it: in Python, and its client over HTTP."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from pathlib import Path
from typing import Any, TypeAlias

import pytest

from recollectum.domain.models.embedder import Purpose
from recollectum.testing import ScriptedEmbedder

EMBEDDER = ScriptedEmbedder()


#: A memory with the methods of mem0's `Memory`, which has no types.
Face: TypeAlias = Any


class ClientFace:
    """mem0's clients, one for each person, as one memory."""

    def __init__(self, clients: dict[str, Any], errors: Any) -> None:  # noqa: ANN401
        self._clients = clients
        self._errors = errors

    def add(self, messages: Any, **given: Any) -> dict[str, Any]:  # noqa: ANN401
        """Add messages."""
        return self._clients[given["user_id"]].add(messages, **given)

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return one memory, or None."""
        try:
            return self._of(memory_id).get(memory_id)
        except self._errors.MemoryNotFoundError:
            return None

    def get_all(self, *, filters: dict[str, Any], top_k: int) -> dict[str, Any]:
        """Return the memories that a filter takes."""
        return self._clients[filters["user_id"]].get_all(filters=filters, page_size=top_k)

    def search(self, query: str, *, filters: dict[str, Any], top_k: int) -> dict[str, Any]:
        """Return what has to do with a query."""
        return self._clients[filters["user_id"]].search(query, filters=filters, top_k=top_k)

    def update(self, memory_id: str, text: str | None = None, metadata: Any = None) -> object:  # noqa: ANN401
        """Change a memory."""
        done = self._tried(memory_id, "update", memory_id, text=text, metadata=metadata)
        return {"message": done["message"]}

    def delete(self, memory_id: str) -> object:
        """Delete a memory."""
        return self._tried(memory_id, "delete", memory_id)

    def delete_all(self, user_id: str) -> object:
        """Delete the memories of a user."""
        return self._clients[user_id].delete_all(user_id=user_id)

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the versions of a memory."""
        return self._of(memory_id).history(memory_id)

    def _of(self, memory_id: str) -> Any:  # noqa: ANN401
        return self._clients[memory_id.rpartition(":")[2]]

    def _tried(self, memory_id: str, method: str, *given: object, **named: object) -> Any:  # noqa: ANN401
        try:
            return getattr(self._of(memory_id), method)(*given, **named)
        except self._errors.MemoryNotFoundError as error:
            # As the class in Python says it.
            raise ValueError(str(error)) from None


def load_mem0(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401
    """Return the package, which would send telemetry and write into the home of the person who runs the tests."""
    for name, value in {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "m"), "OPENAI_API_KEY": "none"}.items():
        monkeypatch.setenv(name, value)
    import mem0

    return mem0


def own_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Face:
    """Return mem0's own memory, with the vectors of our tests and without a model."""
    mem0 = load_mem0(folder, monkeypatch)
    from mem0.embeddings.openai import OpenAIEmbedding

    def embed(_: object, text: str, *__: object, **___: object) -> list[float]:
        return EMBEDDER.embed([text], Purpose.PASSAGE)[0].tolist()

    def embed_batch(_: object, texts: list[str], *__: object, **___: object) -> list[list[float]]:
        return EMBEDDER.embed(texts, Purpose.PASSAGE).tolist()

    monkeypatch.setattr(OpenAIEmbedding, "embed", embed)
    monkeypatch.setattr(OpenAIEmbedding, "embed_batch", embed_batch)
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": 64, "collection_name": "c"}
    config = {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(folder / "h.db")}
    return mem0.Memory.from_config(config)
