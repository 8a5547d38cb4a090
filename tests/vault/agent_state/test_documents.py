"""The state of user interfaces and the accounts: checked, bounded, of one version, and never lost to another writer."""

import json
import os
import random
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import PurgeRequest, Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.agent_state.interface import KNOWN, MOST_VALUES
from recollectum.domain.errors import Conflict, Damaged, InvalidInput, NotFound, SchemaNewer
from recollectum.domain.message import Json
from recollectum.storage.tables.agent_state import documents
from recollectum.storage.tables.agent_state.documents import StoredDocument
from recollectum.vault.vault import Vault
from tests.crashes.programs import run
from tests.matrix.homes import START, Turning, open_home
from tests.plugins.engines import database_of
from tests.plugins.postgres import words_in_rows

pytestmark = pytest.mark.process

_SECRET = "ghp_01B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
STEP = timedelta(hours=1)
#: How many random values are tried, 10,000 in a full run.
_FUZZED = int(os.environ.get("RECOLLECTUM_TEST_FUZZ", "100"))


@pytest.mark.feature("C3")
def test_the_state_of_an_interface_is_there_in_the_next_run(place: Path) -> None:
    with open_home(place, Turning()) as home:
        state = home.vault("user:alice").state.interfaces
        state.save("theme", "dark")
        state.save("banners_shown", {"welcome": 2})
        state.save("theme", "solarised", "console")
        state.save("aKeyOfTheirOwn", [1, {"deep": None}])
    with open_home(place, Turning()) as home:
        state = home.vault("user:alice").state.interfaces
        assert {one.key: one.value for one in state.list()} == {
            "theme": "dark",
            "banners_shown": {"welcome": 2},
            "aKeyOfTheirOwn": [1, {"deep": None}],
        }
        assert state.get("theme", "console").value == "solarised"
        assert state.list_interfaces() == ["console", "main"]
        state.delete("theme", "console")
        assert state.list_interfaces() == ["main"]
        assert state.find("theme", "console") is None
        for call in (state.get, state.delete):
            with pytest.raises(NotFound, match="state show"):
                call("theme", "console")


_WRONG: list[tuple[str, Json]] = [
    *(("theme", value) for value in (3, "", "x" * 200, None, ["dark"])),
    *(("last_dialog", value) for value in (3, {"a": "b"})),
    *(("tips_shown", value) for value in ("two", {"a": -1}, {"a": True}, {"a": "1"}, [1])),
    *(("seen_versions", value) for value in ({"a": 1}, "1.0")),
    *(("", 1), ("1st", 1), ("a key", 1), ("k" * 129, 1), ("a/b", 1)),
    *(("much", "x" * 70_000), ("deep", json.loads("[" * 150 + "]" * 150)), ("nan", float("nan"))),
]


@pytest.mark.feature("C3")
def test_a_wrong_value_is_refused_in_one_sentence_and_nothing_changes(vault: Vault) -> None:
    vault.state.interfaces.save("theme", "dark")
    for key, value in _WRONG:
        with pytest.raises(InvalidInput) as refused:
            vault.state.interfaces.save(key, value)
        assert len(str(refused.value).splitlines()) == 1
    assert [(one.key, one.value) for one in vault.state.interfaces.list()] == [("theme", "dark")]


def test_an_interface_keeps_so_many_values_and_no_more(vault: Vault) -> None:
    whole = {f"key{number}": number for number in range(MOST_VALUES)}
    _put(vault, "state:main", 1, json.dumps(whole))
    with pytest.raises(InvalidInput, match="unset some first"):
        vault.state.interfaces.save("another", 1)
    vault.state.interfaces.save("key7", "changed")
    assert vault.state.interfaces.get("key7").value == "changed"


def test_a_secret_in_a_value_is_replaced_and_in_a_name_is_refused(vault: Vault) -> None:
    saved = vault.state.interfaces.save("last", {"typed": f"token {_SECRET}"})
    assert _SECRET not in json.dumps(saved.value)
    assert sum(saved.notice.replaced.values()) == 1
    for call in (
        lambda: vault.state.interfaces.save(_SECRET, 1),
        lambda: vault.state.interfaces.save("theme", "dark", _SECRET),
        lambda: vault.state.accounts.add("github", _SECRET),
        lambda: vault.state.accounts.add(_SECRET, "ada"),
    ):
        with pytest.raises(InvalidInput, match="contains a secret"):
            call()


def _put(vault: Vault, name: str, version: int, body: str) -> None:
    """As another version of the program would."""
    runtime = vault._runtime  # pyright: ignore[reportPrivateUsage]
    runtime.write(lambda tx, _: documents.replace(tx, name, StoredDocument(version, body), START))


def _body(vault: Vault, name: str) -> StoredDocument | None:
    return vault._runtime.read(lambda tx, _: documents.find(tx, name))  # pyright: ignore[reportPrivateUsage]


_UNREADABLE = ((2, '{"theme":"x"}', SchemaNewer), (1, "{", Damaged), (1, "[1]", Damaged), (1, "[" * 5000, Damaged))


@pytest.mark.feature("C3")
def test_what_is_newer_or_cannot_be_read_is_told_and_never_overwritten(vault: Vault) -> None:
    state, accounts = vault.state.interfaces, vault.state.accounts
    of_state = (state.list, lambda: state.save("theme", "dark"), lambda: state.delete("theme"))
    of_accounts = (accounts.list, lambda: accounts.add("a", "b"), lambda: accounts.remove("a", "b"))
    for name, calls in (("state:main", of_state), ("accounts", of_accounts)):
        for version, body, error in _UNREADABLE:
            _put(vault, name, version, body)
            for call in calls:
                with pytest.raises(error, match="nothing was changed"):
                    call()
            assert _body(vault, name) == StoredDocument(version, body)


def test_accounts_that_are_not_ours_are_told_and_kept(vault: Vault) -> None:
    for listed in (3, [3], [{"service": "a"}], [{"service": "a", "account": "b", "active": 1}]):
        _put(vault, "accounts", 1, json.dumps({"accounts": listed}))
        with pytest.raises(Damaged, match="restore the vault"):
            vault.state.accounts.add("google", "ada")
        assert _body(vault, "accounts") == StoredDocument(1, json.dumps({"accounts": listed}))


@pytest.mark.feature("C7")
def test_several_accounts_are_kept_and_one_of_each_service_is_in_use(vault: Vault, clock: Turning) -> None:
    accounts = vault.state.accounts
    assert accounts.add("google", "ada@example.com").active
    assert not accounts.add("google", "bob@example.com").active
    assert accounts.add("github", "ada").active
    clock.turn(STEP)
    used = accounts.activate("google", "bob@example.com")
    assert used.used_at == clock()
    assert [(one.service, one.account, one.active) for one in accounts.list()] == [
        ("github", "ada", True),
        ("google", "ada@example.com", False),
        ("google", "bob@example.com", True),
    ]
    assert accounts.find_active("google") == used
    assert accounts.find_active("nowhere") is None
    # Said again, it stays as it is.
    assert accounts.add("google", "bob@example.com") == used
    with pytest.raises(Conflict, match=r"accounts use google ada@example\.com"):
        accounts.remove("google", "bob@example.com")
    accounts.remove("google", "ada@example.com")
    accounts.remove("google", "bob@example.com")
    assert [one.service for one in accounts.list()] == ["github"]
    for call in (accounts.activate, accounts.remove):
        with pytest.raises(NotFound, match="accounts list"):
            call("google", "ada@example.com")


@pytest.mark.parametrize("account", ["", " ", "x" * 257, "ada\nbob", "a\x1b[31m"])
def test_an_account_has_a_name_on_one_line(vault: Vault, account: str) -> None:
    with pytest.raises(InvalidInput, match="the account"):
        vault.state.accounts.add("google", account)
    assert vault.state.accounts.list() == []


def test_what_a_newer_program_added_stays(vault: Vault) -> None:
    one = {"service": "google", "account": "ada", "active": True, "added_at": START.isoformat(), "picture": "cat"}
    _put(vault, "accounts", 1, json.dumps({"accounts": [one], "asked": 3}))
    vault.state.accounts.add("google", "bob")
    vault.state.accounts.activate("google", "bob")
    kept = _body(vault, "accounts")
    assert kept is not None
    found = json.loads(kept.body)
    assert found["asked"] == 3
    assert [entry.get("picture") for entry in found["accounts"]] == ["cat", None]


def test_writers_at_once_lose_nothing(vault: Vault) -> None:
    def write(number: int) -> None:
        for step in range(10):
            vault.state.interfaces.save(f"key-{number}-{step}", step)
            vault.state.accounts.add("google", f"a{number}-{step}")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert len(vault.state.interfaces.list()) == len(vault.state.accounts.list()) == 40
    assert sum(one.active for one in vault.state.accounts.list()) == 1


def test_any_value_is_kept_or_refused(vault: Vault) -> None:
    chance = random.Random(3)
    atoms: list[Json] = [None, True, 0, -1, 2.5, 1e300, "", "dark", "\0", "\ud800", "緑", "x" * 200]
    for _ in range(_FUZZED):
        value = chance.choice(atoms)
        for _ in range(chance.randrange(4)):
            value = chance.choice(([value, chance.choice(atoms)], {str(chance.choice(atoms)): value}))
        key = chance.choice([*KNOWN, "other", "a.b-c", "\0", "é"])
        # Any other error fails the test.
        with suppress(InvalidInput):
            vault.state.interfaces.save(key, value)
    assert vault.state.interfaces.list()


@pytest.mark.feature("C3")
def test_a_purge_of_the_person_leaves_no_byte_of_it(place: Path) -> None:
    words = ("zqxwvbnmkjtheme", "plmoknijb@example.com")
    with open_home(place, Turning(), encryption="off") as home:
        vault = home.vault("user:alice")
        vault.state.interfaces.save("theme", f"the theme {words[0]}")
        vault.state.accounts.add("google", words[1])
        assert _found(home, *words)
        preview = vault.privacy.purge.preview(PurgeRequest.user())
        assert preview.counts["documents"] == 2
        receipt = vault.privacy.purge.run(preview.token)
        assert (receipt.state, receipt.hits) == ("done", 0)
        assert receipt.samples > 0
        assert _found(home, *words) == set()
        assert Owner.parse("user:alice") not in home.list_owners()


def _found(home: Recollectum, *words: str) -> set[str]:
    database = database_of(home.home.root)
    in_rows = words_in_rows(database, *words) if database else set[str]()
    hits = run("tests.faults.grepping_program", str(home.home.root), *words)
    return in_rows | {line.partition(" ")[0] for line in hits}


@pytest.mark.feature("C3")
def test_in_an_encrypted_home_no_file_shows_it(place: Path) -> None:
    words = ("zqxwvbnmkj", "plmoknijb", "rtyfghvbn")
    with open_home(place, Turning(), encryption="auto") as home:
        vault = home.vault("user:alice")
        vault.state.interfaces.save("theme", words[0])
        vault.state.accounts.add("google", words[1])
        vault.state.history.add(f"echo {words[2]}")
        assert _found(home, *words) == set()
