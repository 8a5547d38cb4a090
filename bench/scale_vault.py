"""Compares one vault on PostgreSQL with the same vault on SQLite, and with the same rows read and written bare."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psycopg

from bench import scale_peers
from bench.scale_bare import Sent, bare_client, index_reads, recorded
from bench.scale_clock import Spent, compared, timed, timed_result, typical
from bench.scale_rows import BareRows
from bench.scale_table import JUDGED, Ratio, analyse, filled, made_questions, made_texts, opened
from recollectum.storage.postgres.sealing import SealedValues
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase, available, database_on

_OWNER = "user:alice"
#: Somebody whom a server has served before, with so many chunks.
_OTHER = "user:bert"
_OTHERS = 50
#: From the second time on a statement is prepared.
_ASKED = 3
#: How many chunks the vaults have in which sealing is measured.
_SEALED = 1_000
_VAULT_ID = "SELECT vault_id FROM recollectum_catalog.vault_state ORDER BY vault"


def measure(folder: Path, database: PostgresDatabase, size: int, rounds: int) -> Iterator[Ratio]:
    """Yield the lines of one size; what is not said to be encrypted is not."""
    texts, questions = made_texts(size), made_questions()
    yield _bulk(folder / "bulk", texts, rounds)
    with ExitStack() as stack:
        files = stack.enter_context(opened(folder / "files", {}))
        server = stack.enter_context(opened(folder / "server", {"storage.url": database.url()}))
        rows = BareRows(database)
        stack.callback(rows.close)
        for home in (files, server):
            filled(home.vault(_OWNER), texts)
        analyse(database)
        yield _bytes(rows, folder, size)
        yield _warm(files.vault(_OWNER), server.vault(_OWNER), database, questions, rounds, size)
        yield from scale_peers.measure(server.vault(_OWNER), database, texts, questions, rounds)
        yield from _writes(server.vault(_OWNER), rows, rounds)
    yield from _cold(folder / "cold", texts, questions, rounds)
    yield from _sealing(folder / "sealing", texts[:_SEALED], questions, rounds)


def _bulk(folder: Path, texts: Sequence[str], rounds: int) -> Ratio:
    """Compare one call that saves many memories with one `INSERT … SELECT unnest` for each table of its rows."""
    ours: list[Spent] = []
    floors: list[Spent] = []
    with ExitStack() as stack:
        database = stack.enter_context(database_on(available()[-1]))
        server = stack.enter_context(opened(folder, {"storage.url": database.url()}))
        rows = BareRows(database)
        stack.callback(rows.close)
        for number in range(max(2, rounds // 2)):
            vault = server.vault(f"user:person{number}")
            vault.memories.save("The vault is open.")
            ours.append(timed(lambda vault=vault: vault.memories.save_many([Draft(content=one) for one in texts])))
            written = rows.last_written("memories")
            floors.append(timed(rows.together(written)))
            analyse(database)
    return Ratio.of(f"bulk add of {len(texts):,} memories", typical(ours[1:]), typical(floors[1:]), 2)


def _warm(
    files: Vault, server: Vault, database: PostgresDatabase, questions: Sequence[str], rounds: int, size: int
) -> Ratio:
    """Compare a warm recall with that on SQLite and the same statements, sent bare."""
    sent: list[Sent] = []
    for question in questions:
        if [hit.text for hit in files.recall(question)] != [hit.text for hit in server.recall(question)]:
            raise SystemExit("python -m bench scale: the engines disagree, so nothing is compared")
        sent += recorded(lambda question=question: server.recall(question))
    with bare_client(database.url()) as bare:
        found = compared(
            rounds,
            {
                "files": lambda: [files.recall(question) for question in questions],
                "server": lambda: [server.recall(question) for question in questions],
                "bare": lambda: bare.send(sent),
            },
        )
    files_and_bare = Spent(found["files"].wall + found["bare"].wall, found["files"].cpu + found["bare"].cpu)
    count = len(questions)
    what = f"warm recall, {size:,} chunks"
    return Ratio.of(what, found["server"].divided(count), files_and_bare.divided(count), 1.5)


def _cold(folder: Path, texts: Sequence[str], questions: Sequence[str], rounds: int) -> Iterator[Ratio]:
    """Compare the first recall of an encrypted vault with fetching the rows that it reads, and decrypting them.

    A server that runs meets a vault that nobody asked for a while; a new process has each statement described too.
    """
    ours: dict[bool, list[Spent]] = {True: [], False: []}
    floors: list[Spent] = []
    with database_on(available()[-1]) as database, bare_client(database.url()) as bare:
        settings = {"storage.url": database.url(), "encryption": "auto"}
        with opened(folder, settings) as home:
            filled(home.vault(_OWNER), texts)
            filled(home.vault(_OTHER), texts[:_OTHERS])
            analyse(database)
            sealing = SealedValues(home.encryption().key(_vault_id(database)))
        for _ in range(rounds):
            for served, times in ours.items():
                took, sent = _first_recall(folder, settings, questions, served=served)
                times.append(took)
                floors.append(timed(partial(bare.send_and_unseal, index_reads(sent), sealing)))
    floor = typical(floors)
    # A small vault is read in less time than the rest of a recall takes.
    most = 2 if len(texts) >= JUDGED else None
    yield Ratio.of(f"cold recall, {len(texts):,} chunks", typical(ours[True]), floor, most)
    yield Ratio.of(f"cold recall, {len(texts):,} chunks, new process", typical(ours[False]), floor, None)


def _first_recall(
    folder: Path, settings: Mapping[str, object], questions: Sequence[str], *, served: bool
) -> tuple[Spent, list[Sent]]:
    """Return how long the first recall of a vault takes, and what it sends; `served`: after those of another vault."""
    with opened(folder, settings) as home:
        vault = home.vault(_OWNER)
        vault.admin.totals()
        if served:
            for question in questions[:_ASKED]:
                home.vault(_OTHER).recall(question)
        return timed_result(lambda: recorded(lambda: vault.recall(questions[0])))


def _vault_id(database: PostgresDatabase) -> str:
    with psycopg.connect(database.administrator_url) as connection:
        return str(connection.execute(_VAULT_ID).fetchall()[0][0])


def _writes(vault: Vault, rows: BareRows, rounds: int) -> Iterator[Ratio]:
    """Compare a save and a message with a bare transaction of the same rows."""
    texts = (f"boat {number} is white and {number * 7} is black" for number in range(1_000_000))
    chat = vault.sessions.open()
    for what, table, changed, write in (
        ("save", "memories", (), lambda: vault.memories.save(next(texts))),
        ("chat.add", "messages", ("sessions",), lambda: chat.add("user", next(texts))),
    ):
        write()
        write()
        written = rows.last_written(table)
        times = 10 * rounds
        found = compared(times, {"ours": write, "floor": rows.one_by_one(written, times, changed)})
        yield Ratio.of(what, found["ours"], found["floor"], 2)


def _bytes(rows: BareRows, folder: Path, size: int) -> Ratio:
    """Compare what the rows of a vault take with the file of the same vault."""
    files = sum(path.stat().st_size for path in (folder / "files" / "vaults").rglob("*") if path.is_file())
    return Ratio("bytes a chunk", rows.vault_bytes() / size, files / size, 2.5)


def _sealing(folder: Path, texts: Sequence[str], questions: Sequence[str], rounds: int) -> Iterator[Ratio]:
    """Compare recall and save with encryption to the same without, in two databases."""
    more = (f"ship {number} is grey and {number * 7} is green" for number in range(1_000_000))
    with ExitStack() as stack:
        vaults: dict[str, Vault] = {}
        for encryption in ("auto", "off"):
            database = stack.enter_context(database_on(available()[-1]))
            settings = {"storage.url": database.url(), "encryption": encryption}
            vaults[encryption] = stack.enter_context(opened(folder / encryption, settings)).vault(_OWNER)
            filled(vaults[encryption], texts)
            analyse(database)

        def ask(vault: Vault) -> None:
            for question in questions:
                vault.recall(question)

        works: dict[str, Callable[[Vault], object]] = {"recall": ask, "save": lambda one: one.memories.save(next(more))}
        for what, work in works.items():
            for vault in vaults.values():
                work(vault)
            times = 1 if what == "recall" else 10
            found = compared(times * rounds, {key: partial(work, vault) for key, vault in vaults.items()})
            count = len(questions) if what == "recall" else 1
            line = f"sealing, {what}, {len(texts):,} chunks"
            yield Ratio.of(line, found["auto"].divided(count), found["off"].divided(count), 1.3)
