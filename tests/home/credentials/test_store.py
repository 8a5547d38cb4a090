"""Secrets are kept sealed under their own names, privately, and never show themselves."""

import base64
import json
import os
import stat
import traceback
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.access.credential import CredentialKind, CredentialName, SecretLocation, ServiceApiKey
from recollectum.domain.errors import (
    Conflict,
    Damaged,
    InvalidInput,
    KeyProblem,
    ModelError,
    NotFound,
    SchemaNewer,
    WrongKey,
)
from recollectum.home.credentials.register import CredentialRecord, Register, seal_label
from recollectum.home.credentials.store import Credentials
from recollectum.home.paths import Home, prepare
from recollectum.models.registry.language import open_language_model
from recollectum.settings.model import LanguageModelSettings
from recollectum.storage.sqlite.files import HomeFiles
from tests.home.credentials.stores import CANARY, NOW, files_with, open_store, token

OAUTH = CredentialKind.OAUTH


@pytest.mark.feature("C6")
def test_without_a_keyring_a_secret_is_sealed_in_a_private_file_and_comes_back(home: Home, store: Credentials) -> None:
    entry = store.save("OPENAI_API_KEY", ServiceApiKey(CANARY))
    assert (entry.held, entry.account, entry.active, entry.updated_at) == (SecretLocation.FILE, "default", True, NOW)
    assert open_store(home).find("OPENAI_API_KEY") == ServiceApiKey(CANARY)
    assert open_store(home).secret("OPENAI_API_KEY") == CANARY
    assert files_with(home.root.parent, CANARY) == []
    for path in home.root.rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


@pytest.mark.feature("C7")
def test_a_token_comes_back_with_its_end_scope_type_and_refresh_token(home: Home, store: Credentials) -> None:
    store.save("github", token(), account="ada")
    assert open_store(home).find("github", account="ada", kind=OAUTH) == token()
    assert store.find("github", account="bob", kind=OAUTH) is None
    assert store.secret("github") is None
    assert files_with(home.root, CANARY) == []


def test_the_key_of_the_file_is_not_in_the_home_and_another_home_cannot_open_it(home: Home, tmp_path: Path) -> None:
    open_store(home).save("X", ServiceApiKey(CANARY))
    other = Home(tmp_path / "other")
    prepare(other)
    open_store(other).save("X", ServiceApiKey("other"))
    (other.root / "credentials.json").write_bytes((home.root / "credentials.json").read_bytes())
    with pytest.raises(WrongKey, match="not the one that sealed"):
        open_store(other).find("X")
    (other.root / "keys.db").unlink()
    with pytest.raises(KeyProblem, match=r"sealed by a key in keys\.db, which does not have it"):
        open_store(other).find("X")


def test_a_home_without_encryption_seals_by_a_random_key_outside_it(home: Home, tmp_path: Path) -> None:
    store = open_store(home, ENCRYPTION="off")
    store.save("X", ServiceApiKey(CANARY))
    assert not HomeFiles(home).keys.exists()
    (key,) = Path(os.environ["XDG_CONFIG_HOME"]).rglob("credentials-*.key")
    assert not key.is_relative_to(home.root)
    assert open_store(home, ENCRYPTION="off").find("X") == ServiceApiKey(CANARY)
    assert str(key) in store.safety().words
    assert "programs running as you can read it" in store.safety().words
    key.unlink()
    with pytest.raises(KeyProblem, match="which is not there; restore it"):
        store.find("X")
    with pytest.raises(KeyProblem, match="which is not there; restore it"):
        store.save("Y", ServiceApiKey("more"))


def test_every_changed_byte_of_a_record_is_refused_in_words(home: Home, store: Credentials) -> None:
    store.save("X", ServiceApiKey(CANARY))
    path = home.root / "credentials.json"
    document = json.loads(path.read_text())
    sealed = base64.b64decode(document["records"][0]["sealed"])
    for place in range(len(sealed)):
        changed = bytearray(sealed)
        changed[place] ^= 1
        document["records"][0]["sealed"] = base64.b64encode(changed).decode()
        path.write_text(json.dumps(document))
        with pytest.raises(Damaged, match="'X' of account 'default' was changed or moved"):
            store.find("X")


@pytest.mark.parametrize("part", ["service", "account", "kind", "updated_at"])
def test_a_record_moved_under_another_name_is_refused(home: Home, store: Credentials, part: str) -> None:
    store.save("X", ServiceApiKey(CANARY))
    path = home.root / "credentials.json"
    document = json.loads(path.read_text())
    moved = {"service": "Y", "account": "eve", "kind": "oauth", "updated_at": "2031-01-01T00:00:00+00:00"}
    document["records"][0][part] = moved[part]
    document["active"] = {}
    path.write_text(json.dumps(document))
    (entry,) = store.all()
    with pytest.raises(Damaged, match="changed or moved") as raised:
        store.find(entry.service, kind=entry.kind)
    assert CANARY not in "".join(traceback.format_exception(raised.value))


def test_a_seal_is_bound_to_the_file_and_to_every_part_of_the_name() -> None:
    register = Register(id="a0")
    name = CredentialName("X", "ada", CredentialKind.API_KEY)
    one = CredentialRecord(name=name, updated_at=NOW, held=SecretLocation.FILE)
    others = [
        *(
            replace(one, name=replace(name, **change))
            for change in ({"service": "Y"}, {"account": "eve"}, {"kind": OAUTH})
        ),
        replace(one, name=CredentialName('X", "ada', "b", CredentialKind.API_KEY)),
        replace(one, updated_at=NOW + timedelta(microseconds=1)),
    ]
    labels = [seal_label(register, kept) for kept in (one, *others)] + [seal_label(Register(id="b0"), one)]
    assert len(set(labels)) == len(labels) == 7


def test_one_record_s_seal_does_not_open_another(home: Home, store: Credentials) -> None:
    store.save("X", ServiceApiKey(CANARY))
    store.save("Y", ServiceApiKey("of-y"))
    path = home.root / "credentials.json"
    document = json.loads(path.read_text())
    first, second = document["records"]
    first["sealed"], second["sealed"] = second["sealed"], first["sealed"]
    path.write_text(json.dumps(document))
    for name in ("X", "Y"):
        with pytest.raises(Damaged, match="changed or moved"):
            store.find(name)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "recollectum-credentials", "version": 1}', "\x00\xff", "[" * 9999]
)
def test_a_file_that_is_not_ours_is_refused_and_not_written_over(home: Home, store: Credentials, text: str) -> None:
    path = home.root / "credentials.json"
    path.write_text(text)
    with pytest.raises(Damaged, match="is damaged or was changed; restore it"):
        store.find("X")
    with pytest.raises(Damaged, match="is damaged or was changed"):
        store.save("X", ServiceApiKey(CANARY))
    assert path.read_text() == text


def test_a_file_of_a_newer_program_is_refused(home: Home, store: Credentials) -> None:
    (home.root / "credentials.json").write_text('{"format": "recollectum-credentials", "version": 2}')
    with pytest.raises(SchemaNewer, match="upgrade the program"):
        store.all()


def test_a_deleted_secret_is_gone_and_deleting_it_again_says_so(home: Home, store: Credentials) -> None:
    store.save("X", ServiceApiKey(CANARY))
    store.delete("X")
    assert (store.find("X"), store.all()) == (None, [])
    with pytest.raises(NotFound, match="there is no api_key 'X'"):
        store.delete("X")


def test_a_language_model_finds_its_key_by_the_name_of_its_variable(store: Credentials) -> None:
    settings = LanguageModelSettings(provider="openai", model="any")
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        open_language_model(settings, {}, secret=store.secret)
    store.save("OPENAI_API_KEY", ServiceApiKey(CANARY))
    assert open_language_model(settings, {}, secret=store.secret) is not None


@pytest.mark.feature("C7")
def test_accounts_are_listed_and_one_is_in_use(store: Credentials) -> None:
    store.save("mail", ServiceApiKey("of-ada"), account="ada")
    store.save("mail", ServiceApiKey("of-bob"), account="bob")
    store.save("mail", ServiceApiKey("of-eve"), account="eve")
    assert store.accounts("mail") == [("ada", True), ("bob", False), ("eve", False)]
    assert store.secret("mail") == "of-ada"
    store.activate("mail", "bob")
    assert store.secret("mail") == "of-bob"
    store.save("mail", ServiceApiKey("of-bob-2"))
    assert store.find("mail", account="bob") == ServiceApiKey("of-bob-2")
    with pytest.raises(NotFound, match="no account 'dan'"):
        store.activate("mail", "dan")
    with pytest.raises(NotFound, match="no credential 'post'"):
        store.accounts("post")


def test_when_the_account_in_use_goes_none_is_guessed_unless_one_is_left(store: Credentials) -> None:
    for account in ("ada", "bob", "eve"):
        store.save("mail", ServiceApiKey(f"of-{account}"), account=account)
    store.delete("mail")
    assert store.accounts("mail") == [("bob", False), ("eve", False)]
    with pytest.raises(Conflict, match="the accounts bob, eve and none is in use"):
        store.secret("mail")
    store.delete("mail", account="eve")
    assert store.secret("mail") == "of-bob"


@pytest.mark.parametrize("value", ["", "two words", "line\nbreak", f"{CANARY}\u00e9", "x" * 70_000])
def test_what_cannot_be_a_key_is_refused_without_being_quoted(value: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        ServiceApiKey(value)
    assert CANARY not in str(raised.value)


@pytest.mark.parametrize("name", ["", " x", "a\nb", "\x1b[31m", "\u202e", "x" * 300, "e\u0301"])
def test_a_name_that_cannot_be_shown_is_refused_and_no_key_is_found_under_it(store: Credentials, name: str) -> None:
    with pytest.raises(InvalidInput):
        store.save(name, ServiceApiKey("x"))
    assert store.secret(name) is None


def test_nothing_that_is_printed_shows_a_secret(store: Credentials) -> None:
    entry = store.save("X", ServiceApiKey(CANARY))
    store.save("Y", token())
    shown = [
        ServiceApiKey(CANARY),
        token(),
        entry,
        store,
        store.all(),
        store.safety(),
        store.accounts("X"),
        store.delete("X"),
    ]
    assert CANARY not in repr(shown) + str(shown) + f"{shown!a}"


def test_looking_for_a_key_makes_no_file(home: Home, store: Credentials) -> None:
    before = sorted(home.root.rglob("*"))
    assert store.secret("OPENAI_API_KEY") is None
    assert (store.all(), store.safety().in_file) == ([], 0)
    assert sorted(home.root.rglob("*")) == before
