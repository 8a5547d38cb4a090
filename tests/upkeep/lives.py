"""Homes that have everything that has a table, and what is compared after they went to another place."""

from pathlib import Path

from recollectum import Recollectum
from recollectum.storage.copying.row_copier import CopiedTable, TableDigest, digest_rows
from recollectum.storage.port import Tx
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.matrix.homes import STRIDE, Turning
from tests.upkeep.homes import ANN, BEN, fill

QUESTIONS = ("things to keep", "number 17", "tea with milk", "conversation message 3", "how to brew 東京 coffee")


def lived(home: Recollectum, folder: Path, clock: Turning) -> None:
    """Fill two vaults with everything that has a table: edits, forgotten and purged memories, notes, undo, vectors."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    (notes / "coffee_guide.md").write_text("# How > to brew\n\nGrind.\n\n## 東京\n\n" + "Pour slowly. " * 400)
    for owner in (ANN, BEN):
        vault = home.vault(owner)
        fill(vault, 40)
        last = vault.memories.save("the last memory, which is purged").memory
        vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(last.id)).token)
        gone = vault.memories.save("a memory that is forgotten", key="gone_by").memory
        vault.memories.forget(gone.id)
        vault.privacy.undo.last()
        vault.memories.forget(gone.id)
        vault.admin.notes.add_folder(notes)
        vault.admin.notes.sync()
        clock.turn(STRIDE)
        vault.recall("warm up the vectors")


def ranked(vault: Vault) -> list[list[tuple[str, float]]]:
    """How the questions are answered."""
    return [[(hit.text, hit.score) for hit in vault.recall(question, limit=30)] for question in QUESTIONS]


def digests(home: Recollectum, tables: tuple[CopiedTable, ...]) -> dict[str, dict[str, TableDigest]]:
    """The digest of each table of each vault."""
    found: dict[str, dict[str, TableDigest]] = {}
    for entry in home.admin.entries():
        with home.admin.engine.upkeep.inspect(entry.id, home.admin.key_of(entry)) as vault:
            found[str(entry.owner)] = vault.read(lambda tx: digest_rows(tx, tables))
    return found


def last_numbers(home: Recollectum) -> list[int]:
    """The highest number of a chunk that each vault ever had."""

    def read(tx: Tx) -> int:
        return int(tx.rows("SELECT last_number('chunks')", {})[0][0])

    found: list[int] = []
    for entry in home.admin.entries():
        with home.admin.engine.upkeep.inspect(entry.id, home.admin.key_of(entry)) as vault:
            found.append(vault.read(read))
    return found
