"""Whichever way a text enters a vault, its secrets are hidden and nothing that memory itself served is stored."""

import ast
import inspect
import os
import sqlite3
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType

import pytest

import recollectum
from recollectum import Recollectum
from recollectum.domain.access.caller import Permission
from recollectum.domain.access.credential import ServiceApiKey
from recollectum.domain.errors import InvalidInput, RecollectumError
from recollectum.home.credentials.store import Credentials
from recollectum.policy.actions import Action as A
from recollectum.text.secrets import redaction
from recollectum.vault.gate import declared_operation
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.intake import Intake
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.vault import Vault
from tests.context.emitted import FORMS
from tests.doors.http.served import serving
from tests.laws.cli_paths import EVENTS, HOOKS, chat_lines, commands
from tests.laws.console_paths import console_paths
from tests.laws.door_paths import ROUTES, TOOLS, Actions
from tests.laws.intake_entries import ENTRIES as CALLED
from tests.laws.intake_entries import OF_THE_HOME, PATHS_WITHOUT_TEXT, WITHOUT_TEXT
from tests.laws.intake_telling import count_told
from tests.laws.intake_terminal_entries import TERMINAL_ENTRIES
from tests.laws.intake_world import World
from tests.matrix.homes import Turning, open_home
from tests.matrix.over_http_world import Things
from tests.matrix.services import public_methods, reached
from tests.matrix.world import Held
from tests.shape.source import modules

pytestmark = [pytest.mark.process, pytest.mark.slow]

ENTRIES = {**CALLED, **TERMINAL_ENTRIES}
#: Their secrets are not kept: the person's own file has them still, or the text is a name that things are found by.
_NOT_KEPT = frozenset({"notes.sync", "CLI notes sync", "MCP create_relations", "chat.add (keys)"})
#: Entries that take the secret in several fields, and how many.
_SEVERAL = {
    "chat.record_call": 2,
    "sessions.adopt": 4,
    "sessions.adopt (transcript)": 4,
    "imports.add": 4,
    "HTTP POST /v1/imports": 4,
    "CLI sessions import": 4,
}
#: The methods of the intake by which text is admitted; a name that holds a secret is refused instead.
_ADMITS = frozenset(name for name, _ in inspect.getmembers(Intake, inspect.isfunction) if name[0] != "_") - {
    "discard",
    "name",
}
#: Actions that may bring text into a vault.
_WRITES = frozenset(
    {
        *(A.MEMORY_WRITE, A.SESSION_WRITE, A.NOTE_WRITE, A.TRANSCRIPT_WRITE, A.FILE_FOLLOW),
        A.STATE_WRITE,
        *(A.CONSOLIDATION_RUN, A.REVIEW_PROPOSE, A.REVIEW_DECIDE, A.QUARANTINE_WRITE),
    }
)
#: Annotations of parameters that carry text.
_TEXTS = ("str", "Draft", "NewMessage", "Finding", "ToolCall", "Message", "Part")
#: Parameters that name a thing that is there, or choose among known words.
_NAMES = frozenset(
    {
        "memory_id", "session_id", "message_id", "proposal_id", "import_id", "run_id", "kind", "state", "decision",
        "category", "agent", "channel", "group", "topic", "hook", "key", "before", "hash", "place", "token", "source",
        "name", "request", "owner", "quarantine_id", "confirmation", "folder", "path", "reason_code", "who", "because",
        "command_id", "project", "interface",
    }
)  # fmt: skip


def _secret(number: int) -> str:
    return f"ghp_{number:02}B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class _Watch:
    """Sees the searches for secrets, those inside a write transaction by name, and who asked the intake to admit."""

    def __init__(self) -> None:
        self.searches = 0
        #: By file and line.
        self.admitting: set[tuple[str, int]] = set()
        self._admits = {getattr(Intake, name).__code__ for name in _ADMITS}
        self.inside: set[str] = set()
        # Every search begins with this look.
        self._search = redaction.is_plain.__code__
        consts = VaultRuntime.write.__code__.co_consts
        #: What runs between the begin and the commit of a write.
        self._work = next(one for one in consts if isinstance(one, CodeType) and one.co_name == "run")

    def __call__(self, frame: FrameType, kind: str, _: object) -> None:
        """See one call, on whichever thread."""
        if kind != "call":
            return
        if frame.f_code in self._admits and frame.f_back is not None:
            self.admitting.add((frame.f_back.f_code.co_filename, frame.f_back.f_lineno))
        if frame.f_code is not self._search:
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
        told: dict[str, int] = {}
        for number, (name, feed) in enumerate(ENTRIES.items()):
            told[name] = count_told(feed(world, f"marker{number:02} uses {_secret(number)}"))
        credentials = Credentials(served.home.home, served.home.encryption(), environ=os.environ)
        kept = {_value(credentials, one.account) for one in credentials.all() if one.service == "redacted"}
    assert not [name for name, count in told.items() if count < 1], "these do not tell that a secret was replaced"
    assert {name: count for name, count in told.items() if count != _SEVERAL.get(name, 1)} == {}
    rows = _rows(home)
    named = dict(enumerate(ENTRIES))
    assert not [named[n] for n in named if f"marker{n:02} uses [secret:github-token]" not in rows]
    assert not [named[n] for n in named if _secret(n) in rows]
    # The words of an index are in lower case.
    files = {one: one.read_bytes().lower() for one in home.rglob("*") if one.is_file()}
    assert not [
        (named[n], one.name) for n in named for one, data in files.items() if _secret(n).lower().encode() in data
    ]
    expected = {_secret(n) for n in named if named[n] not in _NOT_KEPT} if keep else set[str]()
    assert kept == expected
    # Every place that has the intake admit something was reached.
    places = dict(_admitting_places())
    unreached = {place for place, lines in places.items() if not any((place[0], at) in watch.admitting for at in lines)}
    assert len(places) > len(_ADMITS)
    assert not unreached, "feed a secret to what leads to these"
    # The vault's only writer does not wait for a search.
    assert watch.searches > len(ENTRIES)
    assert not watch.inside


def _admitting_places() -> Iterator[tuple[tuple[str, int], range]]:
    """Where the intake is asked to admit something, from the source: file and line, and the lines of the call."""
    for module in modules("src"):
        if module.path.startswith("src/recollectum/vault/intake/"):
            continue
        for node in module.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_admitting(node.func):
                file = str(Path(recollectum.__file__).parents[2] / module.path)
                yield (file, node.lineno), range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_admitting(called: ast.Attribute) -> bool:
    return called.attr in _ADMITS and isinstance(called.value, ast.Name) and called.value.id == "intake"


def _value(credentials: Credentials, account: str) -> str:
    found = credentials.find("redacted", account=account)
    assert isinstance(found, ServiceApiKey)
    return found.value


@pytest.mark.slow
@pytest.mark.loopback
@pytest.mark.parametrize("keep", [False], indirect=True, ids=["redacted"])
@pytest.mark.usefixtures("keep")
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_what_memory_served_is_not_stored_whichever_way_it_comes_back(
    tmp_path: Path, form: Callable[[str], str]
) -> None:
    home = Path(os.environ["RECOLLECTUM_HOME"])
    with serving(home) as served:
        served.home.vault("user:bob")
        for number, (name, feed) in enumerate(ENTRIES.items()):
            folder = tmp_path / f"person{number}"
            folder.mkdir()
            text = f"marker{number:02} was said\n\n{form(_served(number))}"
            feed(World(served.home, served, folder), _pasted(name, text))
        first = _rows(home)
        for number, (name, feed) in enumerate(ENTRIES.items()):
            folder = tmp_path / f"nobody{number}"
            folder.mkdir()
            # Where nothing is left, an entry refuses it or stores nothing; the entry itself counts what it stored.
            with suppress(RecollectumError, AssertionError):
                feed(World(served.home, served, folder), _pasted(name, form(_served(number))))
    rows = first + _rows(home)
    named = dict(enumerate(ENTRIES))
    # A summary that is too long is made without the model.
    kept = [n for n in named if named[n] != "summaries.update"]
    assert not [named[n] for n in kept if f"marker{n:02} was said" not in first]
    assert not [named[n] for n in named if _served(n) in rows]
    files = {one: one.read_bytes().lower() for one in home.rglob("*.db*") if one.is_file()}
    assert not [(named[n], one.name) for n in named for one, data in files.items() if _served(n).encode() in data]


@pytest.mark.slow
@pytest.mark.loopback
@pytest.mark.parametrize("keep", [False], indirect=True, ids=["redacted"])
@pytest.mark.usefixtures("keep")
def test_a_person_who_repeats_a_memory_is_recorded_whichever_way_it_comes(tmp_path: Path) -> None:
    home = Path(os.environ["RECOLLECTUM_HOME"])
    with serving(home) as served:
        vaults = [served.home.vault(owner) for owner in ("user:alice", "user:bob")]
        for vault in vaults:
            vault.memories.save_many([Draft(content=_served(number)) for number in range(len(ENTRIES))])
            for number in range(len(ENTRIES)):
                assert _served(number) in vault.context(_served(number)).text
        for number, (name, feed) in enumerate(ENTRIES.items()):
            folder = tmp_path / f"person{number}"
            folder.mkdir()
            # Word for word, as a line of a profile, and in words of the person's own.
            text = f"marker{number:02}: {_served(number)}\n- {_served(number)}\n| so x{number:02} hates mist"
            feed(World(served.home, served, folder), _pasted(name, text))
    rows = _rows(home)
    lost = [
        (name, words)
        for number, name in enumerate(ENTRIES)
        for words in (f"marker{number:02}: {_served(number)}", f"- {_served(number)}", f"x{number:02} hates mist")
        if words not in rows
    ]
    assert not lost


def _pasted(entry: str, text: str) -> str:
    """The text as it gets into an entry: a terminal takes each line for itself."""
    return text.replace("\n", " ") if entry in ("CLI chat", "chat /remember") else text


def _served(number: int) -> str:
    return f"a keeper of lighthouse{number:02}x dislikes fog"


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


def test_every_path_that_writes_has_an_entry(tmp_path: Path) -> None:
    held = Held(memories=defaultdict(str), sessions=["ses_none"], messages=[])
    things = Things(learning="", proposal="", receipt="", key="")
    forms = {f"console {one.route}": one.actions for one in console_paths(held, things, "", "") if one.is_form}
    paths: dict[str, Actions] = {
        **{f"HTTP {route}": actions for route, actions in ROUTES.items()},
        **{f"MCP {name}": actions for (_, _, name), actions in TOOLS.items()},
        **{f"CLI {name}": actions for name, (_, actions) in commands(held, str(tmp_path)).items()},
        **{f"chat {name}": actions for name, (_, actions) in chat_lines("").items()},
        **{f"hook {EVENTS[moment]}": behind for moment, (_, behind) in HOOKS.items()},
        **forms,
    }
    writing = {name for name, actions in paths.items() if _WRITES & set(actions)}
    assert sorted(writing - ENTRIES.keys() - PATHS_WITHOUT_TEXT.keys()) == []
    assert sorted(PATHS_WITHOUT_TEXT.keys() - writing) == []
    assert not PATHS_WITHOUT_TEXT.keys() & ENTRIES.keys()


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
    with pytest.raises(InvalidInput, match="checkpoint name contains a secret"):
        vault.sessions.checkpoints.save(chat.id, _secret(1))
    with pytest.raises(InvalidInput, match="source of a quarantine contains a secret"):
        vault.privacy.quarantine.add(f"tool:{_secret(1)}")
    assert vault.privacy.quarantine.list() == []


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
