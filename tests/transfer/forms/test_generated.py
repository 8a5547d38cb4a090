"""Generated histories in every form: row for row as they were generated, only once, and undone to the last digest."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recollectum import Recollectum, Vault
from recollectum.domain.message import Message, Role
from recollectum.domain.page import every
from tests.context.emitted import hooked
from tests.transfer import generated_databases, generated_files, generated_plain
from tests.transfer.foreign_files import SAMPLES_OF
from tests.transfer.foreign_samples import Row
from tests.transfer.generated_databases import DATABASES
from tests.transfer.generated_files import FILES, Talk, Written
from tests.transfer.generated_plain import PLAIN

#: 1,000 in a full run.
_TALKS = int(os.environ.get("RECOLLECTUM_TEST_GENERATED_TALKS", "8"))
#: More is read than the files have; and quotes in a table are not counted.
_COMPRESSED, _QUOTED = {"codex_zst", "chatgpt_zip"}, {"plain_csv"}
_WITHOUT_TALKS = {
    *(
        "knowledge_graph",
        "mem0_export",
        "mem0_history",
        "mem0_chroma",
        "mem0_qdrant",
        "memorysync",
        "langgraph",
        "plain_markdown",
    )
}
_FORMS = {one.__name__: one for one in (*FILES, *DATABASES, *PLAIN)}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as r:
        yield r.vault("user:ann")


def _chats(vault: Vault) -> Iterator[list[Message]]:
    for session in every(lambda cursor: vault.sessions.list(cursor=cursor, limit=200)):
        chat = vault.sessions.chat(session.id)
        yield list(every(lambda cursor, chat=chat: chat.transcript(cursor=cursor, limit=500)))


def _talks(vault: Vault) -> list[list[Row]]:
    # A memory is a message without text in a list of its program.
    rows = (
        [(one.role.value, one.text) for one in chat if one.role is not Role.INFO or one.text] for chat in _chats(vault)
    )
    return sorted(filter(None, rows))


def _memories(vault: Vault) -> list[str]:
    return sorted(one.content for one in every(lambda cursor: vault.memories.list(cursor=cursor, limit=500)))


def _digest(vault: Vault) -> str:
    """Return a digest of every row that the vault serves, with what its index has of them."""
    digest = hashlib.sha256(repr(vault.admin.index.status()).encode())
    for session in every(lambda cursor: vault.sessions.list(cursor=cursor, limit=200)):
        digest.update(repr(session).encode())
    for chat in _chats(vault):
        digest.update(repr(chat).encode())
    for memory in every(lambda cursor: vault.memories.list(cursor=cursor, limit=500)):
        digest.update(repr(memory).encode())
    digest.update(
        repr([(hit.source, hit.text, hit.score) for hit in vault.recall("colour teal", untrusted=True)]).encode()
    )
    return digest.hexdigest()


def test_every_form_that_has_a_sample_has_a_generator() -> None:
    assert _FORMS.keys() == {*SAMPLES_OF, *(one.__name__ for one in PLAIN)}


@pytest.mark.parametrize("form", _FORMS.values(), ids=list(_FORMS))
def test_a_history_arrives_row_for_row_only_once_and_is_undone(
    vault: Vault, tmp_path: Path, form: Callable[[Path, int], Written]
) -> None:
    vault.memories.save("my own colour is teal")
    vault.sessions.open(channel="main").add("user", "and that of the boat is teal too")
    before = _digest(vault)
    written = form(tmp_path / "files", _TALKS)
    given = [tmp_path / "files"] if len(written.paths) > 1 else written.paths
    read: list[int] = []
    stored: list[int] = []
    found = vault.admin.imports.preview(given, mapping=written.mapping, progress=read.append)
    assert {one.form for one in found.contents} == {written.form}
    size = sum(path.stat().st_size for path in written.paths)
    if form.__name__ not in _COMPRESSED:
        assert size * (0.8 if form.__name__ in _QUOTED else 1) <= sum(read) <= size
    assert not [part for one in found.contents for part in one.damage]
    done = vault.admin.imports.run(found, people=found.people or None, progress=stored.append)
    assert sum(stored) == sum(map(len, written.talks)) + len(written.memories)
    own = [("user", "and that of the boat is teal too")]
    assert _talks(vault) == sorted([*written.talks, own])
    assert _memories(vault) == sorted([*written.memories, "my own colour is teal"])
    events = len(list(every(lambda cursor: vault.admin.events.list(cursor=cursor, limit=500))))
    kept = [Path(one.moved_to) for one in done.files if one.moved_to] or given
    again = vault.admin.imports.preview(kept, mapping=written.mapping)
    assert vault.admin.imports.run(again, people=again.people or None).import_id is None
    assert len(list(every(lambda cursor: vault.admin.events.list(cursor=cursor, limit=500)))) == events
    assert done.import_id is not None
    vault.privacy.undo.brought(done.import_id)
    assert _digest(vault) == before


@pytest.mark.parametrize("name", ["claude_code", "codex", "gemini", "openclaw_file", "knowledge_graph", "plain_jsonl"])
def test_a_last_line_that_is_cut_off_is_told_and_the_rest_arrives(vault: Vault, tmp_path: Path, name: str) -> None:
    written = _FORMS[name](tmp_path / "files", 1)
    (path,) = written.paths
    with path.open("ab") as file:
        file.write(path.read_bytes().rstrip().rpartition(b"\n")[2][:-9].join([b"\n", b""]))
    found = vault.admin.imports.preview([path], mapping=written.mapping)
    (content,) = found.contents
    assert len(content.damage) == 1
    vault.admin.imports.run(found)
    assert _talks(vault) == written.talks
    assert _memories(vault) == sorted(written.memories)


@pytest.mark.parametrize("name", sorted(_FORMS.keys() - _WITHOUT_TALKS))
def test_what_memory_served_is_recognised_in_what_a_program_kept(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    served = hooked("I always want the early train")
    said = [("user", f"{served}\n\nwhich train?"), ("assistant", served), ("user", "thanks")]

    def talks(_: int) -> list[Talk]:
        return [Talk(0, said)]

    for module in (generated_files, generated_databases, generated_plain):
        monkeypatch.setattr(module, "talks", talks)
    written = _FORMS[name](tmp_path / "files", 1)
    found = vault.admin.imports.preview(written.paths, mapping=written.mapping)
    (done,) = vault.admin.imports.run(found, people=found.people or None).files
    assert _talks(vault) == [[("user", "which train?"), ("user", "thanks")]]
    assert done.echoes == 1


#: How an image is written in each form: what it is put before, and what it is.
_IMAGES = {
    "claude_code": ('[{"type": "thinking"', '[{"type": "image", "source": {}}, {"type": "thinking"'),
    "codex": ('[{"type": "input_text"', '[{"type": "input_image", "image_url": "data:"}, {"type": "input_text"'),
    "openclaw_file": ('[{"type": "text"', '[{"type": "image", "data": "AAAA"}, {"type": "text"'),
    "chatgpt": ('"parts": [', '"parts": [{"content_type": "image_asset_pointer"}, '),
    "claude_ai": ('"files": []', '"files": [{"file_name": "a.png"}]'),
    "letta": ('[{"type": "text"', '[{"type": "image", "source": {}}, {"type": "text"'),
}


@pytest.mark.parametrize("name", _IMAGES)
def test_images_are_counted_as_left_out_and_the_words_arrive(vault: Vault, tmp_path: Path, name: str) -> None:
    written = _FORMS[name](tmp_path / "files", 1)
    (path,) = written.paths
    plain, with_image = _IMAGES[name]
    before = path.read_text()
    assert plain in before
    path.write_text(with_image.join(before.rsplit(plain, 1)))
    found = vault.admin.imports.preview([path])
    assert found.contents[0].left_out["attachment"] == 1
    vault.admin.imports.run(found)
    assert _talks(vault) == written.talks


@pytest.mark.parametrize(
    ("name", "table", "column", "plain", "with_image"),
    [
        ("opencode", "part", "data", '{"type": "step-finish"}', '{"type": "file", "mime": "image/png"}'),
        ("adk", "events", "event_data", '"parts": [', '"parts": [{"inline_data": {"data": "AAAA"}}, '),
        ("cursor", "cursorDiskKV", "value", '"type": 1,', '"type": 1, "images": [{"uuid": "i"}],'),
    ],
)
def test_images_in_databases_are_counted_too(
    vault: Vault, tmp_path: Path, name: str, table: str, column: str, plain: str, with_image: str
) -> None:
    written = _FORMS[name](tmp_path / "files", 1)
    with closing(sqlite3.connect(written.paths[0])) as database, database:
        first = f"(SELECT min(rowid) FROM {table} WHERE instr(cast({column} AS text), ?))"
        changed = f"UPDATE {table} SET {column} = replace(cast({column} AS text), ?, ?) WHERE rowid = {first}"
        assert database.execute(changed, (plain, with_image, plain)).rowcount == 1
    found = vault.admin.imports.preview(written.paths)
    assert found.contents[0].left_out["attachment"] == 1
    vault.admin.imports.run(found, people=found.people or None)
    assert _talks(vault) == written.talks


def test_a_log_of_gemini_cli_is_kept_with_its_images(vault: Vault, tmp_path: Path) -> None:
    written = _FORMS["gemini"](tmp_path / "files", 1)
    (path,) = written.paths
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    path.write_text(path.read_text().replace('[{"text"', f'[{json.dumps(image)}, {{"text"'))
    found = vault.admin.imports.preview([path])
    assert dict(found.contents[0].left_out) == {}
    vault.admin.imports.run(found)
    ((first, *_),) = _chats(vault)
    assert first.content[0] == image
    assert _talks(vault) == written.talks
