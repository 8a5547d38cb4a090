"""Secrets stay out of the vault, whichever way a text comes in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.domain.message import ToolCall
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home, quick_folder

# Made up, in pieces, so that nobody takes this file for a leak.
KEY = "sk-" + "proj-" + "Zx8Qw3Er7Ty2Ui9Op4As6Df1Gh5Jk0Lz" * 2
PEM = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 3 + "-----END PRIVATE KEY-----"


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def _write_everywhere(vault: Vault, notes: Path) -> None:
    memory = vault.memories.save(f"the key is {KEY}").memory
    vault.memories.edit(memory.id, f"now the key is {KEY}!")
    vault.memories.supersede(memory.id, f"and now it is {KEY}?")
    vault.learnings.save(f"use {KEY}", "tool_usage")
    chat = vault.sessions.open()
    chat.add("user", f"my key: {KEY}")
    chat.add("user", [{"type": "text", "text": f"look: {KEY}"}], thoughts=[{"text": KEY}])
    said = chat.add("assistant", "", tool_calls=[ToolCall(id="1", name="call", args={"api_key": KEY})])
    chat.record_call(said.id, ToolCall(id="1", name="call", args={"api_key": KEY}, result={"token": KEY}))
    chat.describe(title=f"about {KEY}", summary=f"the person said {KEY}")
    notes.mkdir()
    (notes / "keys.md").write_text(f"# Keys\n\n{PEM}\n\nthe kingfisher nests here, {KEY}\n", encoding="utf-8")
    vault.admin.notes.add_folder(notes)
    vault.admin.notes.sync()


def test_no_byte_of_a_secret_is_written(place: Path) -> None:
    with open_home(place, Turning()) as home:
        vault = home.vault("user:alice")
        _write_everywhere(vault, place / "notes")
        assert "[secret:" in vault.memories.list()[0].content
        written = _bytes(place / "home")
    assert b"and now it is [secret:" in written
    assert KEY.encode() not in written
    assert KEY[12:40].encode() not in written
    assert b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" not in written


def test_a_note_is_still_cited_by_its_lines(place: Path) -> None:
    with open_home(place, Turning()) as home:
        vault = home.vault("user:alice")
        _write_everywhere(vault, place / "notes")
        hit = vault.recall("kingfisher", source="notes")[0]
        lines = (place / "notes" / "keys.md").read_text(encoding="utf-8").splitlines()
        assert hit.source.last_line is not None
        assert lines[hit.source.last_line - 1].startswith("the kingfisher nests here")
