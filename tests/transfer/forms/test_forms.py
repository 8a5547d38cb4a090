"""Each form on its sample: what is imported is row for row what an independent reader finds."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from recollectum import Recollectum, Vault
from recollectum.domain.message import Role
from recollectum.domain.page import every
from recollectum.domain.trust import Trust
from tests.transfer.foreign_files import SAMPLES_OF
from tests.transfer.foreign_samples import Row, Sample


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as r:
        yield r.vault("user:ann")


@pytest.fixture(params=list(SAMPLES_OF))
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Sample:
    return SAMPLES_OF[request.param](tmp_path / "files")


def held(vault: Vault) -> list[Row]:
    """What the vault holds: the messages in order, and the memories."""
    rows: list[Row] = [("", one.content) for one in vault.memories.list(limit=1000)]
    for session in every(lambda cursor: vault.sessions.list(cursor=cursor, limit=100)):
        said = vault.sessions.chat(session.id).transcript(limit=1000)
        assert [one.position for one in said] == list(range(1, len(said) + 1))
        assert session.imported
        rows += [(one.role, one.text) for one in said if one.role is not Role.INFO or one.text]
    return rows


def test_a_sample_arrives_row_for_row_and_only_once(vault: Vault, sample: Sample) -> None:
    before = sample.path.read_bytes()
    found = vault.admin.imports.preview([sample.path])
    (content,) = found.contents
    assert content.form == sample.name
    assert (content.messages + content.memories, dict(content.left_out)) == (len(sample.rows), sample.left_out)
    assert content.damage == ()
    done = vault.admin.imports.run(found)
    assert sorted(held(vault)) == sorted(sample.rows)
    (one,) = done.files
    assert one.added + one.memories == len(sample.rows)
    kept = Path(one.moved_to) if one.moved_to else sample.path
    assert kept.read_bytes() == before
    assert sorted(path.name for path in kept.parent.iterdir() if path.is_file()) == [kept.name]
    trusts = {
        message.trust for session in vault.sessions.list() for message in vault.sessions.chat(session.id).messages()
    }
    assert trusts == {Trust.IMPORTED}
    events = vault.admin.events.list(limit=1000)
    again = vault.admin.imports.run(vault.admin.imports.preview([kept]), people=None)
    assert again.import_id is None
    assert [(file.added, file.memories) for file in again.files] == [(0, 0)]
    assert vault.admin.events.list(limit=1000) == events


@pytest.mark.parametrize("name", ["claude_code", "codex", "codex_zst", "openclaw_file"])
def test_native_ids_and_offsets_are_kept(vault: Vault, tmp_path: Path, name: str) -> None:
    sample = SAMPLES_OF[name](tmp_path / "files")
    vault.admin.imports.run(vault.admin.imports.preview([sample.path]))
    (session,) = vault.sessions.list()
    written = sample.path.read_bytes()
    data = zstandard.decompress(written) if sample.path.suffix == ".zst" else written
    for message in vault.sessions.chat(session.id).transcript():
        offset = message.extra["offset"]
        assert isinstance(offset, int)
        line = json.loads(data[offset : data.index(b"\n", offset)])
        assert message.native_id in (line.get("uuid"), line.get("id"), line.get("payload", {}).get("id"))
        assert offset == 0 or data[offset - 1 : offset] == b"\n"


@pytest.mark.parametrize("name", sorted(SAMPLES_OF))
def test_each_message_has_an_id_of_its_program_or_its_place(vault: Vault, tmp_path: Path, name: str) -> None:
    sample = SAMPLES_OF[name](tmp_path / "files")
    found = vault.admin.imports.preview([sample.path])
    vault.admin.imports.run(found, people=found.people or None)
    said = [one for session in vault.sessions.list() for one in vault.sessions.chat(session.id).transcript()]
    assert all(one.native_id for one in said)
    assert len({(one.session_id, one.native_id) for one in said}) == len(said)


def test_images_are_counted_as_left_out(vault: Vault, tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    line = {"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": "2026-02-01T10:00:00Z"}
    path = tmp_path / "log.jsonl"
    said = {"role": "user", "content": [image, {"type": "text", "text": "what is this?"}]}
    # The last line is cut short, as by a program that is writing it.
    path.write_text(json.dumps({**line, "message": said}) + "\n" + '{"type": "user", "uui')
    (content,) = vault.admin.imports.preview([path]).contents
    assert (content.messages, dict(content.left_out)) == (1, {"attachment": 1})
    assert [part.place for part in content.damage] == ["line 2"]
