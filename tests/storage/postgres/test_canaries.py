"""Nothing that people wrote can be read on a server: in its files, its log of changes, a base backup or its log."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.domain.message import ToolCall, ToolStatus
from recollectum.storage.full_text.tokenizer import cut_terms
from recollectum.storage.port import Tx
from recollectum.storage.postgres.full_text.tokens import KnownTokens, pack_tokens
from recollectum.storage.tables.index import generations, vectors
from recollectum.storage.tables.index.generations import GenerationState
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from tests.plugins.postgres import PostgresDatabase
from tests.plugins.postgres_pairs import ServerPair
from tests.plugins.postgres_programs import Server


class Canaries:
    """Words, a vector and index terms that exist nowhere else: other tests use the same server."""

    def __init__(self) -> None:
        #: A part of every text, name and path.
        self.mark = f"qzjx{secrets.token_hex(4)}"
        self.vector = secrets.token_bytes(384)

    def words(self, kind: str) -> list[str]:
        return [f"{self.mark}{kind}{number:03}" for number in range(_COUNT)]

    def wanted(self) -> set[bytes]:
        """What is searched for."""
        terms = cut_terms(" ".join(self.words("said")))
        return {self.mark.encode(), self.vector[:48], *(pack_tokens(term, KnownTokens()) for term in terms)}


#: Of each kind: about 200 in all.
_COUNT = 14
_ATTEMPTS = 5


@pytest.fixture
def home(postgres: PostgresDatabase, tmp_path: Path) -> Iterator[Recollectum]:
    """An encrypted home whose server logs every statement with its parameters."""
    with psycopg.connect(postgres.administrator_url, autocommit=True) as administrator:
        administrator.execute(f"ALTER DATABASE {postgres.name} SET log_statement = 'all'")  # pyright: ignore[reportArgumentType, reportCallIssue]
    with Recollectum(tmp_path / "home", settings={"storage.url": postgres.url()}) as opened:
        yield opened


def _write(home: Recollectum, canaries: Canaries, folder: Path) -> list[str]:
    """Write canaries by every door of a vault, and return the ids of the sessions."""
    mark = canaries.mark
    vault = home.vault(f"user:{mark}owner")
    for word in canaries.words("memory"):
        saved = vault.memories.save(f"{word} is what was remembered", key=f"{word}_key", agent=f"{mark}agent")
        vault.memories.edit(saved.memory.id, f"{word}edited is what was remembered later")
    chats: list[str] = []
    for word in canaries.words("said"):
        chat = vault.sessions.open(channel=word, agent=f"{mark}agent")
        call = ToolCall(
            id=word, name=f"{word}tool", args={"path": f"/{word}/args"}, result=word, status=ToolStatus.COMPLETE
        )
        chat.add("user", f"{word} was said", speaker=f"{word}speaker", native_id=f"{word}native", model=f"{word}model")
        chat.add("tool", f"{word} was found", tool_calls=[call], extra={"note": f"{word}extra"})
        chat.describe(title=f"{word} title", summary=f"{word} summary")
        vault.sessions.checkpoints.save(chat.id, f"{word}checkpoint")
        chats.append(chat.id)
    notes = folder / f"{mark}folder"
    notes.mkdir()
    for word in canaries.words("note"):
        (notes / f"{word}.md").write_text(f"# {word}heading\n\n{word} was noted\n", encoding="utf-8")
    vault.admin.notes.add_folder(notes)
    vault.admin.notes.sync()
    vault.memories._runtime.database.write(lambda tx: _add_vector(tx, canaries.vector))  # pyright: ignore[reportPrivateUsage]
    assert vault.recall(f"{mark}note003")
    return chats


def _add_vector(tx: Tx, data: bytes) -> None:
    made = generations.add(tx, "a model", GenerationState.CURRENT, system_clock())
    vectors.add(tx, made.id, [(1, data)])


def _found(postgres: PostgresDatabase, canaries: Canaries, folder: Path) -> dict[bytes, list[str]]:
    """Every canary that can be read on the server, and where."""
    server = postgres.server
    folder.mkdir(exist_ok=True)
    with psycopg.connect(postgres.administrator_url, autocommit=True) as administrator:
        administrator.execute("CHECKPOINT")
        (own,) = administrator.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchall()[0]
    backup = _base_backup(server, folder)
    found: dict[bytes, list[str]] = {}
    for path in (*_files(Path(server.data), own), *_files(backup, own), Path(server.log)):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            # A file of the log that the server has just recycled under another name, or a temporary one.
            continue
        for one in canaries.wanted():
            if one in content:
                found.setdefault(one, []).append(str(path))
    return found


def _base_backup(server: Server, folder: Path) -> Path:
    """Make a base backup; other tests drop their databases meanwhile, which ends one that has begun with them."""
    command = [f"{server.programs}/pg_basebackup", "-h", server.parameters["host"], "-U", "postgres"]
    told = ""
    for number in range(_ATTEMPTS):
        backup = folder / f"base{number}"
        done = subprocess.run(
            [*command, "-D", str(backup), "-X", "fetch", "-c", "fast"], capture_output=True, text=True
        )
        if done.returncode == 0:
            return backup
        told = done.stderr
    raise AssertionError(told)


def _files(data: Path, own: int) -> Iterator[Path]:
    """The files of a server, without the tables of other databases, which their tests may drop at any moment."""
    for folder, folders, names in os.walk(data):
        if Path(folder) == data / "base":
            folders[:] = [name for name in folders if name == str(own)]
        yield from (path for name in names if (path := Path(folder, name)).is_file())


def test_nothing_that_was_written_can_be_read_on_the_server(
    postgres: PostgresDatabase, home: Recollectum, tmp_path: Path
) -> None:
    canaries = Canaries()
    _write(home, canaries, tmp_path)
    assert not _found(postgres, canaries, tmp_path)


def _purge(home: Recollectum, canaries: Canaries, chats: list[str]) -> None:
    vault = home.vault(f"user:{canaries.mark}owner")
    memories = [one.id for one in vault.memories.list(limit=1000)]
    for request in (PurgeRequest.sessions(*chats), PurgeRequest.memories(*memories)):
        assert vault.privacy.purge.run(vault.privacy.purge.preview(request).token).state is PurgeState.DONE
    assert not vault.memories.list()


@pytest.mark.slow
def test_nothing_can_be_read_on_a_standby_after_a_purge(server_pair: ServerPair, tmp_path: Path) -> None:
    canaries = Canaries()
    server_pair.primary.run("ALTER DATABASE memory SET log_statement = 'all'", "postgres")
    with Recollectum(tmp_path / "home", settings={"storage.url": server_pair.url()}) as home:
        # One search: the log of changes still has what was written before the purge, and dead rows may.
        _purge(home, canaries, _write(home, canaries, tmp_path))
        server_pair.wait_for_replay()
        for server in (server_pair.primary, server_pair.standby):
            assert not _found(server.database, canaries, tmp_path / server.place.name)


def test_without_encryption_the_same_search_finds_it(postgres: PostgresDatabase, tmp_path: Path) -> None:
    canaries = Canaries()
    with Recollectum(tmp_path / "home", settings={"storage.url": postgres.url(), "encryption": "off"}) as home:
        _write(home, canaries, tmp_path)
    # Each kind of canary: or the test above would pass by searching for what nobody writes.
    assert _found(postgres, canaries, tmp_path).keys() == canaries.wanted()
