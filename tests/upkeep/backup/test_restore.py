"""A restore brings a vault back whole, over a living one only when told to; refused, it changes nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, Damaged, KeyProblem, NotFound, RecollectumError, SchemaNewer
from recollectum.home.paths import Home
from recollectum.storage.sqlite.conversion import convert, page_bytes_of
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.manifest_file import NAME
from recollectum.upkeep.backup.restore import restore_home, restore_vaults
from recollectum.upkeep.doctor.vault_checks import read_vault
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import ANN, BEN, filled, opening, said

pytestmark = pytest.mark.process

LATER = "said after the backup"


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def test_a_living_vault_is_replaced_only_when_told_to_and_is_kept(place: Path) -> None:
    with filled(place) as home:
        before, ben = said(home.vault(ANN)), said(home.vault(BEN))
        made = back_up(home.admin)
        held = home.vault(ANN)
        held.memories.save(LATER)
        with pytest.raises(Conflict, match="--replace"):
            restore_vaults(home.admin, made.path, opening(place))
        done = restore_vaults(home.admin, made.path, opening(place), owners=[Owner.parse(ANN)], replace=True)
        # Also for a program that has had it open all the while.
        assert said(held) == before
        assert said(home.vault(BEN)) == ben
        assert held.admin.index.verify().sound
        (kept,) = done.kept
        restore_vaults(home.admin, kept, opening(place), replace=True)
        assert LATER in said(held)[0]


@pytest.mark.parametrize("encryption", ["auto", "off"])
@pytest.mark.parametrize("sizes", [(4096, 2048), (2048, 4096)])
def test_a_vault_is_replaced_by_a_copy_with_pages_of_another_size(
    place: Path, encryption: str, sizes: tuple[int, int]
) -> None:
    with filled(place, encryption=encryption, owners=(ANN,)) as home:
        before = said(home.vault(ANN))
    key = _with_pages_of(sizes[0], place, encryption)
    with open_home(place, Turning(), encryption=encryption) as home:
        made = back_up(home.admin)
        path = file_of(home, ANN)
    _with_pages_of(sizes[1], place, encryption)
    with open_home(place, Turning(), encryption=encryption) as home:
        held = home.vault(ANN)
        held.memories.save(LATER)
        restore_vaults(home.admin, made.path, opening(place), replace=True)
        _is_whole(held, before)
    assert page_bytes_of(path, key) == sizes[1]


def _with_pages_of(size: int, place: Path, encryption: str) -> bytes | None:
    """Rewrite the one vault of a closed home, as an older or a newer release would have made it; return its key."""
    with open_home(place, Turning(), encryption=encryption) as home:
        path = file_of(home, ANN)
        key = home.encryption().key(path.stem) if encryption == "auto" else None
    made = path.with_name("made.db")
    convert(path, key, made, key, size=size)
    made.replace(path)
    return key


def test_a_vault_of_another_home_comes_under_this_homes_key(place: Path) -> None:
    with filled(place / "one") as home:
        before = said(home.vault(ANN))
        made = back_up(home.admin)
    with open_home(place / "two", Turning(), encryption="auto") as home:
        done = restore_vaults(home.admin, made.path, opening(place / "one"), owners=[Owner.parse(ANN)])
        assert [str(owner) for owner in done.owners] == [ANN]
        assert done.kept == ()
    (place / "one").rename(place / "gone")
    with open_home(place / "two", Turning(), encryption="auto") as home:
        assert [str(owner) for owner in home.list_owners()] == [ANN]
        assert said(home.vault(ANN)) == before


@pytest.mark.parametrize("into", ["a vault in use", "a new vault"])
@pytest.mark.parametrize("kinds", [("off", "off"), ("off", "auto"), ("auto", "off"), ("auto", "auto")])
def test_a_vault_is_restored_between_plain_and_encrypted_homes(place: Path, kinds: tuple[str, str], into: str) -> None:
    with filled(place / "one", encryption=kinds[0], owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        made = back_up(home.admin)
    with open_home(place / "two", Turning(), encryption=kinds[1]) as home:
        if into == "a vault in use":
            home.vault(ANN).memories.save(LATER)
        restore_vaults(home.admin, made.path, opening(place / "one"), replace=True)
        held = home.vault(ANN)
        _is_whole(held, before)
        held.memories.save(LATER)
        path = file_of(home, ANN)
    assert path
    is_plain = path.read_bytes().startswith(b"SQLite format 3")
    assert is_plain is (kinds[1] == "off")
    with open_home(place / "two", Turning(), encryption=kinds[1]) as home:
        assert LATER in said(home.vault(ANN))[0]
        assert read_vault(home.admin, *home.admin.entries()).faults == ()


def _is_whole(vault: Vault, before: tuple[list[str], int, list[object]]) -> None:
    assert said(vault) == before
    assert vault.admin.index.verify().sound
    assert vault.recall("number 7 of the things")[0].text == "number 7 of the things to keep"


@pytest.mark.parametrize("how", ["missing", "damaged", "rubbish"])
def test_a_vault_that_is_lost_or_damaged_comes_back_and_the_damaged_file_is_kept(place: Path, how: str) -> None:
    with filled(place, owners=(ANN,)) as home:
        before = said(home.vault(ANN))
        made = back_up(home.admin)
        path = file_of(home, ANN)
    assert path
    spoiled = b""
    if how == "missing":
        path.unlink()
    else:
        raw = bytearray(path.read_bytes())
        at = 0 if how == "rubbish" else len(raw) // 2
        raw[at : at + 64] = bytes(64)
        spoiled = bytes(raw)
        path.write_bytes(spoiled)
    with open_home(place, Turning(), encryption="auto") as home:
        done = restore_vaults(home.admin, made.path, opening(place), replace=how != "missing")
        assert said(home.vault(ANN)) == before
    assert [(kept / path.name).read_bytes() for kept in done.kept] == ([spoiled] if spoiled else [])


def _change_manifest(backup: Path, change: str, value: object) -> None:
    document = json.loads((backup / NAME).read_text())
    document["parts"][1][change] = value
    (backup / NAME).write_text(json.dumps(document))


def _spoil(backup: Path, what: str) -> type[RecollectumError]:
    vault = next((backup / "vaults").iterdir())
    match what:
        case "byte":
            raw = bytearray(vault.read_bytes())
            raw[5000] ^= 1
            vault.write_bytes(raw)
        case "file":
            vault.unlink()
        case "manifest":
            (backup / NAME).write_text("{")
        case "climbing":
            _change_manifest(backup, "file", "../../catalog.db")
        case "rows":
            _change_manifest(backup, "rows", {"memories": 3})
        case "newer":
            _change_manifest(backup, "schema", 9999)
            return SchemaNewer
        case "nothing":
            (backup / NAME).unlink()
            return NotFound
        case _:
            raise AssertionError(what)
    return Damaged


@pytest.mark.parametrize("what", ["byte", "file", "manifest", "climbing", "rows", "newer", "nothing"])
def test_a_backup_that_is_not_whole_is_refused_in_a_sentence_and_changes_nothing(place: Path, what: str) -> None:
    with filled(place, owners=(ANN,)) as home:
        made = back_up(home.admin, to=place / "stick")
        error = _spoil(made.path, what)
        home.vault(ANN).memories.save(LATER)
        before = said(home.vault(ANN))
        with pytest.raises(error) as caught:
            restore_vaults(home.admin, made.path, opening(place), replace=True)
        assert ";" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert said(home.vault(ANN)) == before
        _leaves_nothing(home)
    with pytest.raises(error):
        restore_home(Home(place / "new"), made.path, opening(place))
    assert not (place / "new" / "catalog.db").exists()
    assert not list((place / "new").rglob("*.db"))


def test_without_its_key_it_is_refused(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        made = back_up(home.admin, to=place / "stick")
    with open_home(place / "other", Turning(), encryption="auto") as home:
        (place / "config").rename(place / "gone")
        with pytest.raises(KeyProblem):
            restore_vaults(home.admin, made.path, opening(place))
        _leaves_nothing(home)


def _leaves_nothing(home: Recollectum) -> None:
    assert not list(home.home.backups.iterdir())


def test_a_home_that_is_there_and_vaults_that_lost_theirs_are_not_replaced(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        made = back_up(home.admin, to=place / "stick")
        home.vault(ANN).memories.save(LATER)
        path = file_of(home, ANN)
    assert path
    with pytest.raises(Conflict, match="--into"):
        restore_home(Home(place / "home"), made.path, opening(place))
    (place / "home" / "catalog.db").unlink()
    newer = path.read_bytes()
    with pytest.raises(Conflict, match="--replace"):
        restore_home(Home(place / "home"), made.path, opening(place))
    assert path.read_bytes() == newer
    done = restore_home(Home(place / "home"), made.path, opening(place), replace=True)
    assert newer in [(kept / path.name).read_bytes() for kept in done.kept if (kept / path.name).exists()]
    with open_home(place, Turning(), encryption="auto") as home:
        assert LATER not in said(home.vault(ANN))[0]


def test_what_was_erased_since_a_backup_does_not_come_back_with_it(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        session = home.vault(ANN).sessions.list()[0].id
        # Elsewhere: copies in the home are destroyed with what was erased.
        made = back_up(home.admin, to=place / "stick")
        vault = home.vault(ANN)
        vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.sessions(session)).token)
    with open_home(place, Turning(), encryption="auto") as home:
        restore_vaults(home.admin, made.path, opening(place), replace=True)
    with open_home(place, Turning(), encryption="auto") as home:
        assert home.vault(ANN).sessions.list() == []
        assert home.vault(ANN).memories.find("tea")


def test_a_word_that_was_changed_in_a_backup_without_encryption_is_noticed(place: Path) -> None:
    with filled(place, encryption="off", owners=(ANN,)) as home:
        made = back_up(home.admin, to=place / "stick")
        vault = next((made.path / "vaults").iterdir())
        vault.write_bytes(vault.read_bytes().replace(b"message 7 in the", b"message 8 in the"))
        with pytest.raises(Damaged, match="not what was backed up"):
            restore_vaults(home.admin, made.path, opening(place), replace=True)
