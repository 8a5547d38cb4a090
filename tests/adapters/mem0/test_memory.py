"""The face of mem0: as its own Memory on random histories, with filters, versions, and users kept apart."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollectum import Recollectum
from recollectum.adapters.mem0 import RecollectumMemory
from recollectum.domain.models.embedder import Purpose
from recollectum.testing import ScriptedEmbedder, ScriptedModel

STEPS = int(os.environ.get("ADAPTER_STEPS", "400")) // 4
EMBEDDER = ScriptedEmbedder()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}, embedder=EMBEDDER) as opened:
        yield opened


@pytest.fixture
def memory(home: Recollectum) -> RecollectumMemory:
    return RecollectumMemory(home)


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401
    """mem0's own memory, with the same vectors and without a model."""
    for name, value in {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(tmp_path / "m"), "OPENAI_API_KEY": "none"}.items():
        monkeypatch.setenv(name, value)
    import mem0
    from mem0.embeddings.openai import OpenAIEmbedding

    def embed(_: object, text: str, *__: object, **___: object) -> list[float]:
        return EMBEDDER.embed([text], Purpose.PASSAGE)[0].tolist()

    def embed_batch(_: object, texts: list[str], *__: object, **___: object) -> list[list[float]]:
        return EMBEDDER.embed(texts, Purpose.PASSAGE).tolist()

    monkeypatch.setattr(OpenAIEmbedding, "embed", embed)
    monkeypatch.setattr(OpenAIEmbedding, "embed_batch", embed_batch)
    store = {"path": str(tmp_path / "qdrant"), "embedding_model_dims": 64, "collection_name": "c"}
    config = {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(tmp_path / "h.db")}
    return mem0.Memory.from_config(config)


def _shown(found: dict[str, Any]) -> list[tuple[object, ...]]:
    names = ("memory", "hash", "metadata", "user_id", "run_id", "role")
    return sorted(tuple(str(one.get(name)) for name in names) for one in found["results"])


def _tried(one: Any, method: str, *given: object) -> str:  # noqa: ANN401
    try:
        return str(getattr(one, method)(*given))
    except ValueError:
        return "refused"


@pytest.mark.slow
def test_a_random_history_reads_as_in_mem0(memory: RecollectumMemory, theirs: Any) -> None:  # noqa: ANN401
    rnd = random.Random(2)
    ids: list[list[str]] = []
    for n in range(STEPS):
        user, dice = rnd.choice(["ann", "bob"]), rnd.random()
        if dice < 0.35:
            given: dict[str, Any] = {"user_id": user, "infer": False, "metadata": {"n": rnd.randint(0, 3), "t": "x"}}
            given |= {"run_id": "r1"} if rnd.random() < 0.3 else {}
            made = [one.add(f"fact {n} about tea", **given)["results"][0] for one in (memory, theirs)]
            assert [one["memory"] for one in made] == [f"fact {n} about tea"] * 2
            ids.append([one["id"] for one in made])
        elif dice < 0.6 and ids:
            ours, other = rnd.choice(ids)
            text = f"changed {n}"
            assert _tried(memory, "update", ours, text) == _tried(theirs, "update", other, text)
        elif dice < 0.7 and ids:
            ours, other = rnd.choice(ids)
            assert _tried(memory, "delete", ours) == _tried(theirs, "delete", other)
            assert memory.get(ours) is theirs.get(other) is None
        else:
            more: dict[str, Any] = rnd.choice(
                [{}, {"n": 2}, {"run_id": "r1"}, {"n": {"gte": 1}}, {"t": {"in": ["x", "y"]}}]
            )
            found = [one.get_all(filters={"user_id": user, **more}, top_k=1000) for one in (memory, theirs)]
            assert _shown(found[0]) == _shown(found[1])
    for user in ("ann", "bob"):
        assert memory.delete_all(user_id=user) == theirs.delete_all(user_id=user)
        assert memory.get_all(filters={"user_id": user}) == {"results": []}


def test_search_finds_what_has_to_do_with_the_query_and_keeps_users_apart(memory: RecollectumMemory) -> None:
    for user in ("ann", "bob"):
        memory.add(f"the door of {user} is teal", user_id=user, metadata={"kind": "house"}, infer=False)
    memory.add("tennis on Sundays", user_id="ann", infer=False)
    (first, *_) = memory.search("teal door", filters={"user_id": "ann"}, top_k=3)["results"]
    assert first["memory"] == "the door of ann is teal"
    assert first["score"] > 0.1
    assert not memory.search("bob", filters={"user_id": "ann", "kind": "garden"})["results"]
    either = {"user_id": "ann", "OR": [{"kind": "house"}, {"kind": "garden"}], "NOT": [{"kind": {"contains": "gar"}}]}
    assert [one["memory"] for one in memory.get_all(filters=either)["results"]] == ["the door of ann is teal"]


def test_a_change_is_in_the_history(memory: RecollectumMemory) -> None:
    made = memory.add("likes Tea", user_id="ann", infer=False)["results"][0]
    memory.update(made["id"], "likes tea")
    told = [(one["event"], one["old_memory"], one["new_memory"]) for one in memory.history(made["id"])]
    assert told == [("ADD", None, "likes Tea"), ("UPDATE", "likes Tea", "likes tea")]


def test_a_language_model_extracts_and_a_plain_memory_is_known_too(tmp_path: Path) -> None:
    model = ScriptedModel([])
    with Recollectum(tmp_path / "other", settings={"encryption": "off"}, language_model=model) as home:
        memory = RecollectumMemory(home)
        assert memory.add("I like tea", user_id="ann") == {"results": []}
        assert len(model.prompts) == 1
        plain = home.vault("user:ann").memories.save("The person likes tea.")
        (found,) = memory.get_all(filters={"user_id": "ann"})["results"]
        assert found["memory"] == "The person likes tea."
        memory.update(found["id"], "The person likes coffee.")
        assert home.vault("user:ann").memories.get(plain.id).content == "The person likes coffee."


@pytest.mark.parametrize(
    ("method", "given", "named"),
    [
        ("search", ["x"], {"user_id": "ann"}),
        ("search", ["x"], {}),
        ("search", [" "], {"filters": {"user_id": "ann"}}),
        ("get_all", [], {}),
        ("get_all", [], {"filters": {"n": 1}}),
        ("add", ["x"], {}),
        ("add", ["x"], {"user_id": "a b"}),
        ("delete", ["00000000-0000-0000-0000-000000000000"], {}),
        ("update", ["mem_x@user:nobody", "x"], {}),
    ],
)
def test_what_mem0_refuses_is_refused(
    memory: RecollectumMemory, method: str, given: list[str], named: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        getattr(memory, method)(*given, **named)


def test_a_memory_expires_after_its_day(memory: RecollectumMemory) -> None:
    memory.add("for long", user_id="ann", expiration_date="2999-01-01", infer=False)
    assert len(memory.get_all(filters={"user_id": "ann"})["results"]) == 1
