"""A secret that enters a vault by any way is found as `[secret:…]`, nowhere in clear, and kept where it should be."""

import inspect
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import pytest

from recollectum import Recollectum
from recollectum.domain.access.caller import Permission
from recollectum.domain.access.credential import ServiceApiKey
from recollectum.domain.errors import InvalidInput
from recollectum.home.credentials.store import Credentials
from recollectum.text.secrets import redaction
from recollectum.vault.gate import declared_operation
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.vault import Vault
from tests.doors.http.served import serving
from tests.laws.intake_entries import ENTRIES, NOT_KEPT, OF_THE_HOME, WITHOUT_TEXT, World
from tests.matrix.homes import Turning, open_home
from tests.matrix.services import public_methods, reached

pytestmark = [pytest.mark.process, pytest.mark.slow]

#: Annotations of parameters that carry text.
_TEXTS = ("str", "Draft", "NewMessage", "Finding", "ToolCall", "Message", "Part")
#: Parameters that name a thing that is there, or choose among known words.
_NAMES = frozenset(
    {
        "memory_id", "session_id", "message_id", "proposal_id", "import_id", "run_id", "kind", "state", "decision",
        "category", "agent", "channel", "group", "topic", "hook", "key", "before", "hash", "place", "token", "source",
        "name", "request", "owner", "quarantine_id", "confirmation", "folder", "path", "reason_code", "who", "because",
    }
)  # fmt: skip


def _secret(number: int) -> str:
    return f"ghp_{number:02}B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class _Watch:
    """Counts the searches for secrets, and names those that run while a write transaction is open."""

    def __init__(self) -> None:
        self.searches = 0
        self.inside: set[str] = set()
        self._search = redaction.find_secrets.__code__
        consts = VaultRuntime.write.__code__.co_consts
        #: What runs between the begin and the commit of a write.
        self._work = next(one for one in consts if isinstance(one, CodeType) and one.co_name == "run")

    def __call__(self, frame: FrameType, kind: str, _: object) -> None:
        """See one call, on whichever thread."""
        if kind != "call" or frame.f_code is not self._search:
            return
        self.searches += 1
        above = frame.f_back
        while above is not None:
            if above.f_code is self._work:
                self.inside.add(_caller(frame))
            above = above.f_back


@contextmanager
def _watching() -> Generator[_Watch]:
    watch = _Watch()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        yield watch
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _caller(frame: FrameType) -> str:
    above = frame.f_back
    while above is not None and "vault" not in above.f_code.co_filename:
        above = above.f_back
    return above.f_code.co_qualname if above else "?"


def _rows(home: Path) -> str:
    """Every text in every row of every plain database."""
    found: list[str] = []
    for path in home.rglob("*.db"):
        with sqlite3.connect(path) as connection:
            tables = connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            ).fetchall()
            for (table,) in tables:
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    found += [value for value in row if isinstance(value, str)]
        connection.close()
    return "\n".join(found)


@pytest.fixture
def keep(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")
    if request.param:
        monkeypatch.setenv("RECOLLECTUM_REDACTION__KEEP", "credentials")
    return bool(request.param)


@pytest.mark.slow
@pytest.mark.loopback
@pytest.mark.parametrize("keep", [False, True], indirect=True, ids=["redacted", "kept"])
def test_a_secret_is_found_by_its_placeholder_whichever_way_it_came(tmp_path: Path, keep: bool) -> None:  # noqa: FBT001
    folder = tmp_path / "person"
    folder.mkdir()
    home = Path(os.environ["RECOLLECTUM_HOME"])
    with _watching() as watch, serving(home) as served:
        world = World(served.home, served, folder)
        served.home.vault("user:bob")
        for number, feed in enumerate(ENTRIES.values()):
            feed(world, f"marker{number:02} uses {_secret(number)}")
        credentials = Credentials(served.home.home, served.home.encryption(), environ=os.environ)
        kept = {_value(credentials, one.account) for one in credentials.all() if one.service == "redacted"}
    rows = _rows(home)
    named = dict(enumerate(ENTRIES))
    assert not [named[n] for n in named if f"marker{n:02} uses [secret:github-token]" not in rows]
    assert not [named[n] for n in named if _secret(n) in rows]
    # The words of an index are in lower case.
    files = {one: one.read_bytes().lower() for one in home.rglob("*") if one.is_file()}
    assert not [
        (named[n], one.name) for n in named for one, data in files.items() if _secret(n).lower().encode() in data
    ]
    expected = {_secret(n) for n in named if named[n] not in NOT_KEPT} if keep else set[str]()
    assert kept == expected
    # The vault's only writer does not wait for a search.
    assert watch.searches > len(ENTRIES)
    assert not watch.inside


def _value(credentials: Credentials, account: str) -> str:
    found = credentials.find("redacted", account=account)
    assert isinstance(found, ServiceApiKey)
    return found.value


def test_every_operation_that_writes_text_has_an_entry(tmp_path: Path) -> None:
    fed = {name.partition(" ")[0] for name in ENTRIES} | WITHOUT_TEXT.keys()
    with open_home(tmp_path, Turning()) as home:
        written = {
            f"{kind.__name__.lower()}.{name}"
            for kind in reached(home, "user:alice")
            for name, method in public_methods(kind)
            if _takes_text(method)
        }
    missing = sorted(one for one in written - fed if not one.startswith(OF_THE_HOME))
    assert missing == [], "feed a secret to these in intake_entries.py, or say there why they store no text"


def _takes_text(method: Callable[..., object]) -> bool:
    declared = declared_operation(method)
    if declared is None or declared.permission is Permission.READ:
        return False
    parameters = inspect.signature(method).parameters.values()
    return any(
        one.name not in _NAMES and any(text in str(one.annotation) for text in _TEXTS)
        for one in parameters
        if one.name != "self"
    )


@pytest.fixture
def vault(tmp_path: Path) -> Generator[Vault]:
    with open_home(tmp_path, Turning()) as home:
        yield home.vault("user:alice")


def test_a_name_that_holds_a_secret_is_refused(vault: Vault) -> None:
    chat = vault.sessions.open()
    with pytest.raises(InvalidInput, match="checkpoint name holds a secret"):
        vault.sessions.checkpoints.save(chat.id, _secret(1))


def test_a_secret_that_is_not_written_in_the_end_is_not_kept(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path / "user"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    with open_home(tmp_path, Turning(), settings={"redaction.keep": "credentials"}) as home:
        alice = home.vault("user:alice")
        chat = alice.sessions.open()
        chat.add("user", "the first", native_id="n1")
        chat.add("user", f"the same again, with {_secret(2)}", native_id="n1")
        _erase(home)
        store = Credentials(home.home, home.encryption(), environ=environ)
        assert not [one for one in store.all() if one.service == "redacted"]


def _erase(home: Recollectum) -> None:
    """What destroys something also deletes the secrets that nothing refers to any more."""
    vault = home.vault("user:alice")
    vault.sessions.delete(vault.sessions.open(channel="short-lived").id)
