"""Consolidates one conversation again and again, killed at each statement in turn, and says what a sweep then finds.

Each life is a fork of this process, which keeps no home open itself: to start Python for every statement would take
minutes. Prints one JSON object.
"""

import importlib
import json
import os
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import apsw

from recollectum.domain.message import Json, Role
from recollectum.domain.models.language_model import Prompt
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.tables.content import memories
from recollectum.testing import ScriptedModel
from recollectum.upkeep.rounds.tasks import sweep
from recollectum.vault.vault import Vault
from tests.crashes.consistency import disagreements
from tests.crashes.homes import vault_files
from tests.matrix.homes import START, Turning, open_home
from tests.vault.scripted_homes import finds, found, number_of

TEA = "I drink green tea every morning"
CAT = "My cat is called Ada"
OLD_TOWN = "I live in Porto"
TOWN = "I live in Lisbon now"
HEARSAY = "The harbour opens at nine"
LATER = timedelta(minutes=31)
_LEASE_OVER = timedelta(minutes=10)
#: After so many points, the one that takes over is killed as well.
_AGAIN = 3


def prepare(folder: Path, settings: Mapping[str, object] | None = None) -> None:
    """A home in which a conversation has fallen silent."""
    with open_home(folder, Turning(), settings=settings) as home:
        vault = home.vault("user:alice")
        vault.memories.save(OLD_TOWN)
        chat = vault.sessions.open(channel="telegram")
        for role, text in (("user", TEA), ("user", CAT), ("user", TOWN), ("tool", HEARSAY)):
            chat.add(Role(role), text)


def consolidate(
    folder: Path,
    after: timedelta,
    armed: Callable[[], None] = lambda: None,
    settings: Mapping[str, object] | None = None,
) -> None:
    """What a program does when it starts; `armed` is called when the home is open."""
    with open_home(folder, Turning(START + after), settings=settings, language_model=_model()) as home:
        vault = home.vault("user:alice")
        vault.admin.totals()
        armed()
        sweep(vault)


def examine(folder: Path) -> list[str]:
    """What is wrong with the home after all is done."""
    with open_home(folder, Turning(START + 3 * LATER)) as home:
        vault = home.vault("user:alice")
        wrong = shown_wrong(vault)
    (path,) = vault_files(folder / "home")
    database = SqliteDatabase(path, SqliteOptions())
    try:
        return [*wrong, *_kept(database), *(f"damaged: {one}" for one in disagreements(database))]
    finally:
        database.close()


def _kept(database: SqliteDatabase) -> list[str]:
    rows = Counter(one.content for _, one in database.read(lambda tx: list(memories.everything(tx))))
    wrong = [] if rows == Counter([TEA, CAT, TOWN, OLD_TOWN]) else [f"rows {dict(rows)}"]
    cited = database.read(lambda tx: tx.rows("SELECT count(*) FROM citations", {}))
    return wrong if cited == [(3,)] else [*wrong, f"citations {cited}"]


def shown_wrong(vault: Vault) -> list[str]:
    """What a vault shows after all is done, and should not."""
    return [*_seen(vault), *_done(vault)]


def _seen(vault: Vault) -> list[str]:
    active = sorted(one.content for one in vault.memories.list())
    wrong = [] if active == sorted([TEA, CAT, TOWN]) else [f"active {active}"]
    past = sorted(one.content for one in vault.memories.as_of(START + timedelta(minutes=1)))
    wrong += [] if past == [OLD_TOWN] else [f"as of then {past}"]
    proposed = [one.finding.content for one in vault.admin.review.list()]
    return wrong if proposed == [HEARSAY] else [*wrong, f"proposed {proposed}"]


def _done(vault: Vault) -> list[str]:
    states = [job.state.value for job in vault.admin.consolidation.list_jobs()]
    wrong = [] if states == ["done"] else [f"jobs {states}"]
    wrong += [] if len(vault.admin.consolidation.list_runs()) == 1 else ["runs are not one"]
    (session,) = vault.sessions.list()
    return wrong if session.ended_at else [*wrong, "the session is open"]


def life(work: Callable[[], object], answer: Path | None = None) -> int:
    """Run one life in a process of its own; 0, or the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            told = work()
            if answer:
                answer.write_text(json.dumps(told))
            code = 0
        except BaseException:  # noqa: BLE001 - the edge of a process
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    assert code <= 0, "a life ended with an error"
    return -code


def killed_at(point: int, folder: Path, after: timedelta) -> int:
    """Consolidate, killed before the statement of that number; 0 kills nothing. How many statements there were."""
    counting, count = False, 0

    def trace(_cursor: object, _sql: str, _bindings: object) -> bool:
        nonlocal count
        count += counting
        if counting and count == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    def arm() -> None:
        nonlocal counting
        counting = True

    apsw.connection_hooks.append(hook)
    consolidate(folder, after, arm)
    return count


def counted(folder: Path) -> tuple[int, list[str]]:
    """How many statements a consolidation has, and the modules that it and the examination import when they run."""
    before = set(sys.modules)
    points = killed_at(0, folder, LATER)
    examine(folder)
    return points, sorted(set(sys.modules) - before)


def recovered(folder: Path) -> list[str]:
    """What is wrong after a sweep that nobody kills."""
    consolidate(folder, LATER + 2 * _LEASE_OVER)
    return examine(folder)


def main(folder: Path) -> None:
    """Kill at each point, and now and then in the sweep after it too."""
    prepared, told = folder / "prepared", folder / "told.json"
    life(lambda: prepare(prepared))
    shutil.copytree(prepared, folder / "counted")
    life(lambda: counted(folder / "counted"), told)
    points, modules = json.loads(told.read_text())
    # Imported here once, or each life would import them when it needs them.
    for name in modules:
        importlib.import_module(name)
    wrong: list[str] = []
    kills = 0
    for point in range(1, points + 1):
        home = folder / f"home-{point}"
        shutil.copytree(prepared, home)
        kills += life(lambda p=point, h=home: killed_at(p, h, LATER)) == signal.SIGKILL
        if point % _AGAIN == 0:
            other = 1 + point * 7 % points
            kills += life(lambda p=other, h=home: killed_at(p, h, LATER + _LEASE_OVER)) == signal.SIGKILL
        life(lambda h=home: recovered(h), told)
        wrong += [f"point {point}: {one}" for one in json.loads(told.read_text())]
        shutil.rmtree(home)
    print(json.dumps({"points": points, "kills": kills, "wrong": wrong}))


def _model() -> ScriptedModel:
    def answer(prompt: Prompt) -> dict[str, Json]:
        town = found(TOWN, TOWN, act="supersede", target=number_of(prompt, OLD_TOWN))
        return finds(found(TEA, TEA), found(CAT, CAT), town, found(HEARSAY, HEARSAY))

    return ScriptedModel(answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
