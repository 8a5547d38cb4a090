"""Documents as keyed memories: exact, found by folder, versioned, and refused under a name that would not be exact."""

import json
from base64 import b32encode
from collections.abc import Iterator
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollectum import InvalidInput, Json, Recollectum, Vault
from recollectum.adapters.documents import Documents

DEEP = ("a", "b", "c", "d", "e")
# What a name may be: any text that the vault stores exactly.
LABELS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=7)
BODIES = st.dictionaries(LABELS, st.none() | st.booleans() | st.integers() | LABELS | st.lists(LABELS), max_size=3)


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        yield home.vault("user:ann")


@pytest.fixture
def documents(vault: Vault) -> Documents:
    return Documents(vault, "doc", "tester")


def test_a_document_comes_back_as_it_was_saved(documents: Documents) -> None:
    body: dict[str, Json] = {"text": "Ünï\n\tcode", "list": [1, 2.5, None, True], "nested": {"a": {"b": "c"}}}
    documents.save([(("x",), "one", body, None)])
    found = documents.find(("x",), "one")
    assert found is not None
    assert (found.folder, found.name, found.body) == (("x",), "one", body)
    assert documents.find(("x",), "two") is documents.find(("y",), "one") is None


def test_values_that_differ_only_in_case_or_punctuation_are_not_taken_for_each_other(documents: Documents) -> None:
    for text in ("Tea", "tea", "tea!", "TEA"):
        documents.save([((), "drink", {"text": text}, None)])
        found = documents.find((), "drink")
        assert found is not None
        assert found.body == {"text": text}
    assert found.memory.version == 4


def test_a_folder_holds_what_is_below_it_and_nothing_beside_it(documents: Documents) -> None:
    folders = [DEEP[:depth] for depth in range(len(DEEP) + 1)] + [("ab",), ("a", "bc"), (*DEEP[:4], "f"), ("a b",)]
    documents.save([(folder, "name", {}, None) for folder in folders])
    for folder in folders:
        below = [one for one in folders if one[: len(folder)] == folder]
        assert sorted(one.folder for one in documents.list(folder)) == sorted(below)


def test_labels_never_run_into_each_other(documents: Documents) -> None:
    documents.save([(("a", "b"), "c", {"n": 1}, None), (("a",), "b\nc", {"n": 2}, None), (('a", "b',), "c", {}, None)])
    assert len(list(documents.list())) == 3


def test_other_memories_are_no_documents(documents: Documents, vault: Vault) -> None:
    documents.save([((), "mine", {}, None)])
    other = vault.memories.save("plain words", key="doc_plain")
    assert [one.name for one in documents.list()] == ["mine"]
    assert documents.of_memory(other.id) is documents.of_memory("mem_gone") is None


def test_a_deleted_document_is_gone_and_can_be_restored(documents: Documents, vault: Vault) -> None:
    documents.save([((), "one", {"n": 1}, None)])
    assert documents.forget((), "one")
    assert not documents.forget((), "one")
    assert not list(documents.list())
    (trashed,) = vault.privacy.trash.list()
    vault.memories.move(trashed.id, "active")
    restored = documents.find((), "one")
    assert restored is not None
    assert restored.body == {"n": 1}


def test_a_shorter_time_to_live_replaces_a_longer_one(documents: Documents) -> None:
    for minutes in (60, 5):
        documents.save([((), "one", {"n": 1}, timedelta(minutes=minutes))])
    found = documents.find((), "one")
    assert found is not None
    assert found.memory.expires_at == found.memory.updated_at + timedelta(minutes=5)


def test_a_secret_in_a_body_is_redacted_and_the_body_stays_json(documents: Documents, vault: Vault) -> None:
    secret = "ghp_" + "a1B2" * 9
    documents.save([((), "one", {"text": f"token {secret}", "n": 1}, None)])
    found = documents.find((), "one")
    assert found is not None
    assert found.body["n"] == 1
    assert secret not in json.dumps(found.body)


@pytest.mark.parametrize("name", ["nul\0", "\ud800", "key ghp_" + "a1B2" * 9])
def test_a_name_that_would_not_be_stored_exactly_is_refused(documents: Documents, name: str) -> None:
    with pytest.raises(InvalidInput, match="choose another one"):
        documents.save([((), "fine", {}, None), ((), name, {}, None)])
    with pytest.raises(InvalidInput, match="choose another one"):
        documents.save([((name,), "one", {}, None)])
    assert not list(documents.list())


def test_the_text_of_a_document_is_plain_json_with_the_body_first(vault: Vault) -> None:
    body: dict[str, Json] = {"text": 'Ann said "größe"\n', "numbers": [1, None, 2.5]}
    (saved,) = Documents(vault, "kind", "agent").save([(("a", "b"), "name", body, None)])
    found = json.loads(saved.memory.content)
    assert list(found) == ["body", "folder", "name", "mark"]
    assert (found["body"], found["folder"], found["name"]) == (body, ["a", "b"], "name")
    assert saved.memory.content == json.dumps(found, ensure_ascii=False)


@given(st.lists(LABELS, max_size=5), LABELS, BODIES, st.none() | st.timedeltas(timedelta(1), timedelta(9)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_the_keys_and_texts_of_documents_stay_what_they_were(
    vault: Vault, folder: list[str], name: str, body: dict[str, Json], ttl: timedelta | None
) -> None:
    """Those of earlier versions were made like this; another key would hide a document that is stored already."""

    def digest(labels: list[str], size: int) -> str:
        written = json.dumps(labels).encode()
        return b32encode(blake2b(written, digest_size=size).digest()).decode().lower()

    (saved,) = Documents(vault, "kind", "agent").save([(tuple(folder), name, body, ttl)])
    levels = [digest(folder[: depth + 1], 5) if depth < len(folder) else "0" * 8 for depth in range(3)]
    assert saved.memory.key == f"kind_{''.join(levels)}{digest([*folder, '', name], 15)}"
    mark = digest([json.dumps(body, ensure_ascii=False), str(ttl)], 5)
    text = {"body": body, "folder": folder, "name": name, "mark": mark}
    assert saved.memory.content == json.dumps(text, ensure_ascii=False)
