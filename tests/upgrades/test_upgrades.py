"""A database of every earlier schema opens, keeps what it held, and comes out with the schema of a new one."""

import gzip
from pathlib import Path

import apsw
import pytest

from recollectum import Recollectum
from recollectum.storage.sqlite.migrate import shipped, without_comments
from tests.matrix.homes import copy_home
from tests.upgrades.rows import ANSWERED, KEPT, OWNER, SHELVED, SPOKEN
from tools.upgrade_databases import stored

_SETTINGS = {"encryption": "off", "storage.reserve_mib": 0}
_VAULT_STEPS = [step.number for step in shipped("vault")]
_CATALOG_STEPS = [step.number for step in shipped("catalog")]


def _schema(path: Path) -> dict[str, str]:
    """Every statement of the schema by its name, without comments, which files made by older releases have."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    connection.close()
    return {str(name): without_comments(str(sql)) for name, sql in rows}


def _unpack(family: str, step: int, path: Path) -> None:
    path.write_bytes(gzip.decompress(stored(family, step).read_bytes()))


def _vault_file(home: Path) -> Path:
    (path,) = (home / "vaults").glob("*.db")
    return path


@pytest.fixture(scope="module")
def new_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one empty vault of the present schema."""
    root = tmp_path_factory.mktemp("new") / "home"
    with Recollectum(root, settings=_SETTINGS) as r:
        r.vault(OWNER)
    return root


@pytest.fixture
def home(new_home: Path, tmp_path: Path) -> Path:
    """A copy of the new home, for one test."""
    return copy_home(new_home, tmp_path / "home")


@pytest.mark.parametrize("step", _VAULT_STEPS)
def test_a_vault_of_every_schema_opens_with_all_it_held(home: Path, step: int) -> None:
    fresh = _schema(_vault_file(home))
    _unpack("vault", step, _vault_file(home))
    with Recollectum(home, settings=_SETTINGS) as r:
        vault = r.vault(OWNER)
        assert vault.memories.get("mem_1").content == KEPT
        assert vault.memories.get("mem_2").content == SHELVED
        assert [one.content for one in vault.sessions.chat("ses_1").messages()] == [SPOKEN, ANSWERED]
        assert vault.recall("vegetarian")[0].text == SPOKEN
        assert vault.recall("hazelnuts")[0].text == KEPT
        assert not vault.recall("bicycle")
        assert vault.admin.index.verify().changed == 0
    assert _schema(_vault_file(home)) == fresh


@pytest.mark.parametrize("step", _CATALOG_STEPS)
def test_a_catalog_of_every_schema_opens_with_all_it_held(home: Path, step: int) -> None:
    fresh = _schema(home / "catalog.db")
    _unpack("catalog", step, home / "catalog.db")
    # Of the catalog that was there; an older release wrote none.
    (home / "catalog.mark").unlink()
    with Recollectum(home, settings=_SETTINGS) as r:
        assert str(r.people.resolve("telegram:42")) == OWNER
        assert [str(one) for one in r.list_owners()] == [OWNER]
        assert [key.id for key in r.keys.list()] == ["key_1"]
        assert [grant.id for grant in r.keys.list_grants()] == ["grt_1"]
    assert _schema(home / "catalog.db") == fresh


@pytest.mark.parametrize(("family", "steps"), [("vault", _VAULT_STEPS), ("catalog", _CATALOG_STEPS)])
def test_a_database_is_stored_for_every_step(family: str, steps: range) -> None:
    missing = [stored(family, step).name for step in steps if not stored(family, step).exists()]
    assert not missing, f"write these with: python -m tools.upgrade_databases: {missing}"
