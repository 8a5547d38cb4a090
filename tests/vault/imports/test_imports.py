"""Imports: whose they are, undone whole, continued, and PicoBot's file, which is imported once."""

import json
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum, Vault
from recollectum.domain.errors import Conflict, Denied, InvalidInput
from recollectum.domain.session import SessionKey
from recollectum.domain.trust import Trust
from recollectum.storage.foreign.places import PLACES
from tests.transfer.foreign_files import SAMPLES_OF, conversations
from tests.transfer.foreign_samples import SAMPLES


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as r:
        yield r


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:ann")


def bring(vault: Vault, *paths: Path, mine: bool = False, foreign: bool = False) -> str | None:
    return vault.admin.imports.run(vault.admin.imports.preview(paths), mine=mine, foreign=foreign).import_id


def rows(vault: Vault) -> dict[str, object]:
    """What the vault serves, by place: conversations, memories, and what recall finds."""
    sessions = vault.sessions.list(limit=1000)
    return {
        "sessions": [(one.id, one.message_count) for one in sessions],
        "messages": [vault.sessions.chat(one.id).transcript(limit=1000) for one in sessions],
        "memories": [(one.id, one.content, one.version, one.updated_at) for one in vault.memories.list(limit=1000)],
        "hits": [(hit.text, hit.score) for hit in vault.recall("teal colour", limit=50, untrusted=True)],
        "index": vault.admin.index.status(),
    }


def test_undoing_an_import_leaves_the_rows_that_were_there(vault: Vault, tmp_path: Path) -> None:
    vault.memories.save("Ann likes teal")
    vault.sessions.open(channel="main").add("user", "my colour is teal")
    before = rows(vault)
    names = ("claude_code", "chatgpt", "letta", "mem0_export", "knowledge_graph", "opencode")
    done = bring(vault, *(SAMPLES_OF[name](tmp_path / name).path for name in names))
    assert done is not None
    assert rows(vault) != before
    vault.privacy.undo.brought(done)
    assert rows(vault) == before
    assert bring(vault, tmp_path / "claude_code" / ".claude") is None
    assert rows(vault) == before


def test_an_import_that_was_undone_says_how_it_comes_back(vault: Vault, tmp_path: Path) -> None:
    path = SAMPLES_OF["claude_ai"](tmp_path / "files").path
    done = bring(vault, path)
    assert done is not None
    brought = rows(vault)
    vault.privacy.undo.brought(done)
    again = vault.admin.imports.run(vault.admin.imports.preview([path]))
    assert (again.import_id, again.files[0].known) == (None, 2)
    assert again.undone_by is not None
    vault.privacy.quarantine.release(again.undone_by)
    assert rows(vault)["messages"] == brought["messages"]


def test_a_memory_that_the_vault_has_stays_untouched_and_survives_the_undo(vault: Vault, tmp_path: Path) -> None:
    own = vault.memories.save("Ann likes teal").memory
    done = vault.admin.imports.run(vault.admin.imports.preview([SAMPLES_OF["mem0_export"](tmp_path / "files").path]))
    assert (done.files[0].memories, done.files[0].known_memories) == (1, 1)
    assert vault.memories.get(own.id) == own
    assert done.import_id is not None
    vault.privacy.undo.brought(done.import_id)
    assert [one.id for one in vault.memories.list()] == [own.id]


def test_the_owner_decides_whose_words_they_are(vault: Vault, home: Recollectum, tmp_path: Path) -> None:
    path = SAMPLES_OF["claude_ai"](tmp_path / "files").path

    def trusts(one: Vault) -> list[Trust]:
        (session,) = one.sessions.list()
        return [message.trust for message in one.sessions.chat(session.id).transcript()]

    bring(vault, path, mine=True)
    assert trusts(vault) == [Trust.OWNER, Trust.ASSISTANT]
    other = home.vault("user:bob")
    bring(other, path, foreign=True)
    assert trusts(other) == [Trust.UNKNOWN, Trust.UNKNOWN]
    with pytest.raises(InvalidInput, match="both mine and foreign"):
        bring(vault, path, mine=True, foreign=True)


def test_a_caller_who_is_not_an_administrator_reads_no_file(vault: Vault, home: Recollectum, tmp_path: Path) -> None:
    key = home.keys.add("user:ann", permissions=["read", "write"]).secret
    with Recollectum(tmp_path / "home", api_key=key, settings={"encryption": "off"}) as r, pytest.raises(Denied):
        r.vault("user:ann").admin.imports.preview([SAMPLES_OF["zep"](tmp_path / "files").path])


def test_of_several_people_one_is_chosen(vault: Vault, tmp_path: Path) -> None:
    path = SAMPLES_OF["adk"](tmp_path / "files").path
    with sqlite3.connect(path) as db:
        db.execute("UPDATE sessions SET user_id = 'bob' WHERE id = 's2'")
        db.execute("UPDATE events SET user_id = 'bob' WHERE session_id = 's2'")
    db.close()
    found = vault.admin.imports.preview([path])
    assert found.people == ("ann", "bob")
    with pytest.raises(InvalidInput, match="2 people: ann, bob"):
        vault.admin.imports.run(found)
    with pytest.raises(InvalidInput, match="nothing of 'eve'"):
        vault.admin.imports.run(found, people=["eve"])
    vault.admin.imports.run(found, people=["ann"])
    assert [one.extra["session"] for one in vault.sessions.list()] == ["s1"]


def test_a_zip_with_many_parts_is_one_import(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    talks = list(conversations(7))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations-000.json", json.dumps(talks[:4]))
        archive.writestr("conversations-001.json", json.dumps(talks[4:]))
        archive.writestr("user.json", "{}")
        archive.writestr("chat.html", "<html>")
    done = vault.admin.imports.run(vault.admin.imports.preview([path]))
    assert [one.added for one in done.files] == [16, 12]
    assert len(vault.sessions.list(limit=100)) == 7
    assert done.import_id is not None
    vault.privacy.undo.brought(done.import_id)
    assert not list(vault.sessions.list())


def test_the_archive_of_claude_ai_is_read(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "data-2026-11-18.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", (SAMPLES / "claude-ai-export-conversations.json").read_bytes())
        archive.writestr("projects.json", "[]")
        archive.writestr("users.json", '[{"uuid": "acc-1", "full_name": "Ann"}]')
    (done,) = vault.admin.imports.run(vault.admin.imports.preview([path])).files
    assert (done.form, done.added) == ("Claude.ai export", 2)
    assert dict(done.left_out) == {"other archive file": 2, "attachment": 1}


def test_a_zip_with_a_member_without_a_name_is_read_and_the_member_counted(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(list(conversations(1))))
        archive.writestr("x", "nobody named this")
    # A name of one zero byte, which is read as no name.
    path.write_bytes(
        path.read_bytes().replace(b"xnobody", b"\0nobody").replace(b"\0x" + b"PK\5\6", b"\0\0" + b"PK\5\6")
    )
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["conversations.json", ""]
    done = vault.admin.imports.run(vault.admin.imports.preview([path]))
    assert [one.added for one in done.files] == [4]
    assert dict(done.files[0].left_out) == {"other archive file": 1}


@pytest.mark.feature("P10")
def test_the_file_of_picobot_is_imported_once_and_then_renamed(vault: Vault, tmp_path: Path) -> None:
    path = SAMPLES_OF["picobot"](tmp_path / "files").path
    before = path.read_bytes()
    done = vault.admin.imports.run(vault.admin.imports.preview([path]))
    assert done.files[0].moved_to == f"{path}.migrated"
    assert not path.exists()
    assert Path(f"{path}.migrated").read_bytes() == before
    assert len(vault.sessions.list()) == 2


@pytest.mark.feature("P10")
def test_a_failure_leaves_everything_as_it_was(vault: Vault, tmp_path: Path) -> None:
    path = SAMPLES_OF["picobot"](tmp_path / "files").path
    value = json.loads(path.read_bytes())
    value["sessions"][1]["conversation"].append({"User": {"content": None}})
    path.write_text(json.dumps(value))
    before, held = path.read_bytes(), rows(vault)
    found = vault.admin.imports.preview
    with pytest.raises(InvalidInput, match="has no content; nothing was imported"):
        vault.admin.imports.run(found([path]))
    assert (path.read_bytes(), rows(vault)) == (before, held)
    path.write_bytes((SAMPLES / "picobot-sessions.json").read_bytes())
    Path(f"{path}.migrated").write_text("of an earlier time")
    with pytest.raises(Conflict, match="exists already"):
        vault.admin.imports.run(found([path]))
    assert rows(vault) == held
    assert Path(f"{path}.migrated").read_text() == "of an earlier time"


@pytest.mark.feature("P10")
def test_a_file_of_which_somebody_was_left_out_keeps_its_name(vault: Vault, tmp_path: Path) -> None:
    path = SAMPLES_OF["picobot"](tmp_path / "files").path
    value = json.loads(path.read_bytes())
    value["sessions"][1]["user_id"] = "whatsapp:42"
    path.write_text(json.dumps(value))
    done = vault.admin.imports.run(vault.admin.imports.preview([path]), people=["tui:local"])
    assert (done.files[0].added, done.files[0].moved_to, path.exists()) == (4, None, True)


def test_mapped_files_become_messages_or_memories(vault: Vault, tmp_path: Path) -> None:
    table, lines, text = tmp_path / "a.csv", tmp_path / "b.jsonl", tmp_path / "c.md"
    table.write_text('author,content,ts\nuser,I like teal,1760000000\nAI,"Noted, \nteal",2026-01-01T10:00:00Z\n')
    lines.write_text('{"fact": "Ann works at Acme", "n": 7}\n{"other": 1}\n{"fact": "Ann spea')
    text.write_text("# User\n\nHello\n\n# Assistant\n\nHi Ann\n")
    preview, run = vault.admin.imports.preview, vault.admin.imports.run
    run(preview([table], mapping={"text": "content", "role": "author", "time": "ts"}))
    done = run(preview([lines], mapping={"text": "fact", "id": "n"}))
    assert [part.place for part in done.files[0].damage] == ["line 2", "line 3"]
    run(preview([text], mapping={"text": "section", "role": "heading"}))
    said = {one.title: vault.sessions.chat(one.id).transcript() for one in vault.sessions.list()}
    assert [(one.role, one.text, one.created_at.year) for one in said["a.csv"]] == [
        ("user", "I like teal", 2025),
        ("assistant", "Noted, \nteal", 2026),
    ]
    assert [(one.role, one.text) for one in said["c.md"]] == [("user", "Hello"), ("assistant", "Hi Ann")]
    assert [one.content for one in vault.memories.list()] == ["Ann works at Acme"]
    with pytest.raises(InvalidInput, match="has no 'colour'"):
        preview([table], mapping={"text": "content", "colour": "x"})
    with pytest.raises(InvalidInput, match="names no text"):
        preview([table], mapping={"role": "author"})


def test_what_is_not_known_is_said_with_the_forms_that_are(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "odd.bin").write_bytes(b"\x00\x01")
    with pytest.raises(InvalidInput, match="known forms are transcripts of Claude Code"):
        vault.admin.imports.preview([tmp_path / "odd.bin"])
    with pytest.raises(InvalidInput, match="neither a file nor a folder"):
        vault.admin.imports.preview([tmp_path / "nowhere"])
    with sqlite3.connect(tmp_path / "old.db") as db:
        db.execute("CREATE TABLE sessions (app_name, user_id, id)")
        db.execute("CREATE TABLE events (app_name, user_id, session_id, actions BLOB)")
    db.close()
    with pytest.raises(InvalidInput, match=r"pickled objects .* google\.adk\.sessions\.migration"):
        vault.admin.imports.preview([tmp_path / "old.db"])


_IN_A_HOME = (
    *("claude_code", "codex", "codex_zst", "gemini", "gemini_legacy", "opencode", "openclaw", "openclaw_file"),
    *("cursor", "adk", "mem0_history", "mem0_chroma", "aider"),
)


def test_agents_are_found_where_they_keep_their_files(vault: Vault, tmp_path: Path) -> None:
    person = tmp_path / "person"
    samples = [SAMPLES_OF[name](person) for name in _IN_A_HOME]
    places = vault.admin.imports.list_places(person)
    assert all(any(one.path.is_relative_to(place) for place in places) for one in samples)
    # Each place that is known has a sample here, but for those of other systems.
    here = [one for one in PLACES if not one.startswith(("Library/", "AppData/"))]
    assert all(any(place.match(one) for place in places) for one in here)
    found = vault.admin.imports.preview(places)
    done = vault.admin.imports.run(found, people=found.people or None)
    assert {one.form for one in done.files} == {one.name for one in samples}
    assert vault.admin.imports.list_places(tmp_path / "nobody") == []


def test_an_entity_with_other_observations_is_told_and_left(vault: Vault, tmp_path: Path) -> None:
    path = SAMPLES_OF["knowledge_graph"](tmp_path / "files").path
    bring(vault, path)
    before = rows(vault)
    path.write_text(path.read_text().replace("likes teal", "likes green"))
    done = vault.admin.imports.run(vault.admin.imports.preview([path]))
    assert (done.files[0].memories, dict(done.files[0].left_out)) == (0, {"changed entity": 1})
    assert rows(vault)["memories"] == before["memories"]


def test_files_whose_ids_are_only_numbers_do_not_hide_each_other(vault: Vault, tmp_path: Path) -> None:
    first = SAMPLES_OF["letta"](tmp_path / "one").path
    second = SAMPLES_OF["letta"](tmp_path / "two").path
    second.write_text(second.read_text().replace("My colour is teal", "My dog is called Rex"))
    bring(vault, first)
    done = vault.admin.imports.run(vault.admin.imports.preview([second]))
    assert (done.files[0].added, done.files[0].known_memories) == (1, 1)
    assert vault.recall("Rex", untrusted=True)


@pytest.mark.parametrize("name", ["claude_code", "codex", "gemini", "openclaw_file"])
def test_what_is_followed_is_known_to_an_import(vault: Vault, tmp_path: Path, name: str) -> None:
    sample = SAMPLES_OF[name](tmp_path / "files")
    vault.admin.transcripts.add(sample.path)
    assert vault.admin.transcripts.sync().added == len(sample.rows)
    done = vault.admin.imports.run(vault.admin.imports.preview([sample.path]))
    assert (done.files[0].added, done.files[0].known, done.import_id) == (0, len(sample.rows), None)


def test_what_a_hook_recorded_is_known_to_an_import(vault: Vault, tmp_path: Path) -> None:
    sample = SAMPLES_OF["claude_code"](tmp_path / "files")
    lines = [json.loads(line) for line in sample.path.read_text().splitlines()]
    said = [line for line in lines if line["type"] == "user" and line["message"]["content"] == sample.rows[0][1]]
    live = vault.sessions.open_key(SessionKey(agent="claude", channel="cli", topic=said[0]["sessionId"]))
    live.add("user", sample.rows[0][1], native_id=said[0]["uuid"])
    (done,) = vault.admin.imports.run(vault.admin.imports.preview([sample.path])).files
    assert (done.added, done.known) == (len(sample.rows) - 1, 1)
    (again,) = vault.admin.imports.run(vault.admin.imports.preview([sample.path])).files
    assert (again.added, again.known) == (0, len(sample.rows))


def test_entities_whose_names_differ_by_case_alone_are_all_imported(vault: Vault, tmp_path: Path) -> None:
    names = ("Ann", "ann", "Ann ", "ANN")
    entities = [{"type": "entity", "name": name, "entityType": "p", "observations": ["x"]} for name in names]
    knows = [{"type": "relation", "from": one, "to": "Ann", "relationType": "is"} for one in names]
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, [*entities, *knows])))
    done = vault.admin.imports.run(vault.admin.imports.preview([path]))
    assert (done.files[0].memories, done.files[0].known_memories) == (8, 0)
    held = [json.loads(one.content) for one in vault.memories.list()]
    assert sorted(map(str, held)) == sorted(map(str, [*entities, *knows]))
