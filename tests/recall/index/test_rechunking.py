"""Pieces that another version cut are noticed and cut again, and everything is found all the while."""

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from threading import Event

import apsw
import pytest

from recollectum.domain.hit import SearchMode
from recollectum.recall.index import rechunking
from recollectum.storage.port import Tx
from tests.recall.homes import beside, change, opened, rows, scripted

_PROSE = (
    "Ann's e-mail is ann.bell@example.org, and the build v1.2.3-rc1 of node.js failed at 14:05 on 2024-05-03. "
    "It's getUserById() in C++ that shouldn't have run-time costs of 3.14 %; see https://example.org/a/b?c=d#e! "
    "Grüße aus Köln, naïve café; Привет мир, γειά σου κόσμε. 東京都に行きました。我喜歡喝茶，也喜歡咖啡。"
    "วันนี้อากาศดี 안녕하세요 세계 👩‍👩‍👧 👍🏽 and e\u0301 stay whole… “Really?” she asked.\n"
)
_NOTE = (
    "---\ntitle: A specimen\ntags: [one, two]\n---\n# Plan\n\n"
    + _PROSE * 6
    + "\n## Steps\n\n"
    + "".join(f"- step {number} of the plan: {_PROSE[:60]}\n" for number in range(60))
    + "\n```python\ndef plan():\n    return 'plan'\n```\n\n### Costs\n\n| what | how much |\n|---|---|\n"
    + "".join(f"| item {number} | {number * 7} € |\n" for number in range(90))
    + "\nSetext\n======\n\n> quoted\n\n"
    + "x" * 4000
)
_PIECES = "SELECT source, source_number, start, stop, first_line, last_line, headings FROM chunks ORDER BY number"


def _digest(place: Path) -> str:
    """All pieces of the specimen, and all terms at all places as the database has them."""

    def terms(connection: apsw.Connection) -> list[object]:
        connection.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab(main, search, instance)")
        return list(connection.execute('SELECT term, doc, "offset" FROM temp.seen ORDER BY doc, "offset", term'))

    with beside(place) as database:
        made = repr((rows(place, _PIECES), database.on_connection(terms)))
    return blake2b(made.encode(), digest_size=8).hexdigest()


@pytest.mark.feature("G16")
def test_the_mark_is_that_of_the_pieces_and_terms_this_version_makes(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "my_specimen.md").write_text(_NOTE, encoding="utf-8")
    with opened(place, None) as vault:
        vault.memories.save(_PROSE * 12, key="a_key_of_words")
        vault.sessions.open().add("user", _PROSE.replace("\n", "\n\n") * 12, speaker="Ann")
        vault.admin.notes.add_folder(folder)
        vault.admin.notes.sync()
    found = _digest(place)
    assert found == rechunking.MARK, (
        "texts are cut or found otherwise than before, so vaults must be cut again: "
        f"set MARK in recall/index/rechunking.py to {found!r}, and leave FIRST as it is"
    )


def _mark(place: Path, mark: str) -> None:
    """Pretend that another version made the pieces."""
    change(place, f"INSERT OR REPLACE INTO meta (name, value) VALUES ('{rechunking.NAME}', '{mark}')")


def _spoil(place: Path) -> None:
    """Cut every text in half, as another version might have."""
    change(place, "UPDATE chunks SET stop = 5")
    _mark(place, "of another version")


def _until(true: Callable[[], bool]) -> None:
    for _ in range(3000):
        if true():
            return
        Event().wait(0.01)
    pytest.fail("it never came")


@pytest.mark.feature("G16")
@pytest.mark.parametrize("meaning", [False, True])
def test_pieces_of_another_version_are_cut_again_behind_the_answers(
    place: Path, tmp_path: Path, *, meaning: bool
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lentils.md").write_text("# Dinner\n\nred lentils with cumin\n", encoding="utf-8")
    with opened(place, None) as vault:
        for number in range(150):
            vault.memories.save(f"tea of sort {number} is green")
        gone = vault.memories.save("an oath that was taken back").memory
        vault.memories.forget(gone.id)
        vault.sessions.open().add("user", "the doctor called", speaker="Ann")
        vault.admin.notes.add_folder(folder)
        vault.admin.notes.sync()
        before = rows(place, "SELECT source, source_number, start, stop FROM chunks ORDER BY source, source_number")
    _spoil(place)
    with opened(place, scripted() if meaning else None) as vault:
        assert vault.admin.index.status().recutting
        assert len([hit for hit in vault.recall("green tea", limit=200) if hit.source.memory_id]) == 150
        _until(lambda: not vault.admin.index.status().recutting)
        assert vault.admin.index.verify().sound
        for query, text in (("sort 77", "tea of sort 77 is green"), ("doctor", "the doctor called")):
            assert vault.recall(query)[0].text == text
        assert "cumin" in vault.recall("lentils cumin")[0].text
        assert "an oath that was taken back" not in [hit.text for hit in vault.recall("oath")]
        if meaning:
            assert vault.recall("physician").rung is SearchMode.HYBRID
            assert vault.recall("physician")[0].text == "the doctor called"
    assert rows(place, "SELECT source, source_number, start, stop FROM chunks ORDER BY source, source_number") == before
    assert rows(place, f"SELECT value FROM meta WHERE name = '{rechunking.NAME}'") == [(rechunking.MARK,)]


@pytest.mark.feature("G16")
def test_pieces_that_stay_as_they_are_keep_their_vectors(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        for number in range(70):
            vault.memories.save(f"tea of sort {number}")
        vault.sessions.open().add("user", "the doctor called")
        vault.admin.index.update()
        numbers = rows(place, "SELECT number FROM chunks ORDER BY number")
    _mark(place, "of another version")
    change(place, "UPDATE chunks SET stop = 3 WHERE number = 7")
    again = scripted()
    with opened(place, again) as vault:
        vault.admin.index.update()
        assert not vault.admin.index.status().recutting
    # One was cut anew, and its text was known to the cache.
    assert again.passages == []
    after = rows(place, "SELECT number FROM chunks ORDER BY number")
    assert set(after) - set(numbers) == {(72,)}
    assert set(numbers) - set(after) == {(7,)}


@pytest.mark.feature("G16")
def test_cutting_goes_on_where_it_was_stopped_and_begins_anew_for_another_version(place: Path) -> None:
    def take(limit: int) -> int:
        with beside(place) as database:
            return database.write(lambda tx: rechunking.step(tx, limit))

    def reached(tx: Tx) -> str:
        return str(tx.rows("SELECT value FROM meta WHERE name = 'index_chunking_done'", {})[0][0])

    with opened(place, None) as vault:
        for number in range(5):
            vault.memories.save(f"tea of sort {number}")
        vault.sessions.open().add("user", "the doctor called")
    _spoil(place)
    assert (take(2), take(2)) == (2, 2)
    with beside(place) as database:
        assert database.read(reached) == f"{rechunking.MARK} memories 4"
    assert (take(2), take(2), take(2), take(2)) == (1, 1, 0, 0)
    _spoil(place)
    change(place, "UPDATE meta SET value = 'older memories 4' WHERE name = 'index_chunking_done'")
    assert (take(100), take(100), take(100)) == (5, 1, 0)
    with opened(place, None) as vault:
        assert vault.admin.index.verify().sound
        assert vault.recall("sort 0")[0].text == "tea of sort 0"


def test_making_the_index_again_renews_the_mark(place: Path) -> None:
    with opened(place, None) as vault:
        vault.memories.save("tea is green")
    _spoil(place)
    with opened(place, None) as vault:
        vault.admin.index.rebuild()
        assert not vault.admin.index.status().recutting
