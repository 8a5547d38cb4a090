"""An older token file comes in with every fact, is destroyed only when all of it is kept, and survives any kill."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum.domain.access.credential import Credential, CredentialKind, OAuthToken, ServiceApiKey
from recollectum.domain.errors import Conflict, Damaged, InvalidInput, NotFound
from recollectum.home.credentials.store import Credentials
from recollectum.home.credentials.token_import import import_tokens
from recollectum.home.paths import Home
from tests.home.credentials.stores import CANARY, files_with, open_store
from tests.home.credentials.test_crashes import dies_at

pytestmark = pytest.mark.process

OAUTH = CredentialKind.OAUTH
ENDS = datetime(2027, 1, 1, tzinfo=UTC)
SET = datetime(2025, 6, 1, 8, 30, tzinfo=UTC)
OLD = [
    {
        "serverName": "docs",
        "token": {
            "accessToken": f"{CANARY}-a",
            "refreshToken": f"{CANARY}-r",
            "expiresAt": int(ENDS.timestamp() * 1000),
            "tokenType": "Bearer",
            "scope": "read write",
        },
        "clientId": "client",
        "tokenUrl": "https://auth.example/token",
        "mcpServerUrl": "https://docs.example/mcp",
        "updatedAt": int(SET.timestamp() * 1000),
    },
    {"serverName": "keyed", "token": {"accessToken": f"{CANARY}-k", "tokenType": "ApiKey"}, "updatedAt": 0},
]
DOCS = OAuthToken(
    access_token=f"{CANARY}-a",
    refresh_token=f"{CANARY}-r",
    expires_at=ENDS,
    scope="read write",
    client_id="client",
    token_url="https://auth.example/token",
    server_url="https://docs.example/mcp",
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """An older token file."""
    path = tmp_path / "mcp-oauth-tokens.json"
    path.write_text(json.dumps(OLD))
    return path


def kept(store: Credentials) -> tuple[Credential | None, Credential | None]:
    return store.find("docs", kind=OAUTH), store.find("keyed")


@pytest.mark.feature("C8")
@pytest.mark.parametrize("form", [OLD, {str(one["serverName"]): one for one in OLD}], ids=["list", "by server"])
def test_every_fact_comes_in_and_the_file_goes(home: Home, store: Credentials, old: Path, form: object) -> None:
    old.write_text(json.dumps(form))
    done = import_tokens(home, store, old)
    assert [name.service for name in done.names] == ["docs", "keyed"]
    assert done.known == []
    assert kept(open_store(home)) == (DOCS, ServiceApiKey(f"{CANARY}-k"))
    assert store.all()[0].updated_at == SET
    assert list(old.parent.glob("mcp-*")) == []
    assert files_with(old.parent, CANARY) == []
    with pytest.raises(NotFound, match="there is no token file"):
        import_tokens(home, store, old)


@pytest.mark.feature("C8")
def test_a_kill_before_any_call_to_the_disk_loses_nothing_and_the_next_run_finishes(tmp_path: Path) -> None:
    step, half_done = 1, 0
    while True:
        folder = tmp_path / str(step)
        folder.mkdir()
        old = folder / "tokens.json"
        old.write_text(json.dumps(OLD))
        place = Home(folder / "home")
        open_store(place)
        died = dies_at(step, "import", place, str(old))
        store = open_store(place)
        if died and list(folder.glob("tokens.json*")):
            half_done += 1
            import_tokens(place, store, old)
        assert kept(store) == (DOCS, ServiceApiKey(f"{CANARY}-k"))
        assert list(folder.glob("tokens.json*")) == []
        assert files_with(folder, CANARY) == []
        if not died:
            break
        step += 1
    assert half_done > 10


def test_the_file_is_overwritten_before_it_is_unlinked(home: Home, store: Credentials, old: Path) -> None:
    # The name goes, but an open handle still sees what the file's blocks hold.
    with old.open("rb") as handle:
        size = os.fstat(handle.fileno()).st_size
        import_tokens(home, store, old)
        assert handle.read() == bytes(size)


def test_what_is_kept_already_is_known_and_what_differs_is_a_conflict(
    home: Home, store: Credentials, old: Path
) -> None:
    store.save("docs", DOCS)
    done = import_tokens(home, store, old)
    assert [name.service for name in done.known] == ["docs"]
    store.save("keyed", ServiceApiKey("newer"))
    store.delete("docs", kind=OAUTH)
    old.write_text(json.dumps(OLD))
    with pytest.raises(Conflict, match="another api_key 'keyed'"):
        import_tokens(home, store, old)
    assert json.loads(old.read_text()) == OLD
    assert kept(store) == (None, ServiceApiKey("newer"))


@pytest.mark.parametrize(
    "text",
    [
        *("", "7", "[7]", f'["{CANARY}"]', f'[{{"serverName": "x", "token": "{CANARY}"}}]', "[" * 9999),
        *('[{"serverName": "x", "token": {"accessToken": "a", "expiresAt": "soon"}}]', json.dumps([OLD[0], OLD[0]])),
        json.dumps([OLD[0], {"serverName": "y", "token": {"accessToken": f"{CANARY} two"}}]),
    ],
)
def test_a_file_that_cannot_be_read_whole_is_left_as_it_was(
    home: Home, store: Credentials, old: Path, text: str
) -> None:
    old.write_text(text)
    with pytest.raises(Damaged, match="nothing") as raised:
        import_tokens(home, store, old)
    assert CANARY not in str(raised.value)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None
    assert old.read_text() == text
    assert store.all() == []


def test_a_link_a_second_name_and_a_folder_are_refused(home: Home, store: Credentials, old: Path) -> None:
    link, twin = old.with_name("link.json"), old.with_name("twin.json")
    link.symlink_to(old)
    for path in (link, old.parent):
        with pytest.raises(InvalidInput):
            import_tokens(home, store, path)
    twin.hardlink_to(old)
    with pytest.raises(InvalidInput, match="second name"):
        import_tokens(home, store, twin)
    assert json.loads(old.read_text()) == OLD


def test_a_key_with_facts_of_its_own_is_kept_as_a_token(home: Home, store: Credentials, old: Path) -> None:
    ends = {"accessToken": "k", "tokenType": "ApiKey", "expiresAt": int(ENDS.timestamp() * 1000)}
    old.write_text(json.dumps([{"serverName": "x", "token": ends, "updatedAt": 5}]))
    import_tokens(home, store, old)
    found = store.find("x", kind=OAUTH)
    assert isinstance(found, OAuthToken)
    assert (found.token_type, found.expires_at) == ("ApiKey", ENDS)
    assert store.all()[0].updated_at == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=5)
