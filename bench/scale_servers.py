"""Measures one and four server processes on one database: requests in a second, and processor time of a request."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.http_load import Plan
from bench.scale_table import Ratio, analyse, made_questions, made_texts, opened, switch_sync_on
from bench.sizes import sized
from recollectum.vault.intake.draft import Draft
from tests.plugins.postgres import PostgresDatabase, available, database_on

_ROOT = Path(__file__).parents[1]
#: Two where a small run only shows that it works.
_MANY = sized(4, 2)
_PIECES = 200
_ADDS = 1_000_000
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Load:
    """What the clients of some servers got."""

    per_second: float
    #: Processor time of the servers, not of the clients and not of PostgreSQL.
    cpu_ms: float


@dataclass(frozen=True)
class _Heard:
    """What one process of clients was answered."""

    requests: int
    refused: int


def measure(folder: Path, clients: int, seconds: float, rounds: int) -> Iterator[Ratio]:
    """Yield the lines; four of five requests are recalls, and the others saves."""
    with database_on(available()[-1]) as database:
        switch_sync_on(database)
        secrets = _people(folder / "0", database, clients)
        # A home has one daemon: each server has its own, as on its own host.
        for number in range(1, _MANY):
            shutil.copytree(folder / "0", folder / str(number))
        runs: dict[int, list[Load]] = {1: [], _MANY: []}
        for number in range(rounds):
            for count, found in runs.items():
                with ExitStack() as stack:
                    servers = [stack.enter_context(_server(folder / str(place), database)) for place in range(count)]
                    # The first requests of a process have statements described and vaults read.
                    _load(servers, secrets, seconds / 2, 2 * number)
                    found.append(_load(servers, secrets, seconds, 2 * number + 1))
    cpu = {name: min(run.cpu_ms for run in found) for name, found in runs.items()}
    yield Ratio(f"processor time of a request, {_MANY} servers against one, ms", cpu[_MANY], cpu[1], 1.1)
    pause = {name: 1000 / max(run.per_second for run in found) for name, found in runs.items()}
    yield Ratio(f"ms between requests, {_MANY} servers against one", pause[_MANY], pause[1], None)


def _people(folder: Path, database: PostgresDatabase, count: int) -> list[str]:
    """Make a vault and a key for each client; return the secrets of the keys."""
    secrets: list[str] = []
    with opened(folder, {"storage.url": database.url()}) as home:
        for number in range(count):
            person = f"user:client{number}"
            home.people.add(person)
            home.vault(person).memories.save_many([Draft(content=text) for text in made_texts(_PIECES, number)])
            secrets.append(home.keys.add(person)[1])
    analyse(database)
    return secrets


@contextmanager
def _server(home: Path, database: PostgresDatabase) -> Generator[tuple[str, int]]:
    """Start a server of the home; yield its address and the number of its process."""
    settings = {
        "STORAGE__URL": database.url(),
        "ENCRYPTION": "off",
        "EMBEDDING__PROVIDER": "none",
        "SERVER__RATE_PER_MINUTE": "0",
        "SERVER__ADDRESS_RATE_PER_MINUTE": "0",
    }
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("recollectum")), "serve", "--port", "0", "--json", "--home", str(home)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **{f"RECOLLECTUM_{name}": value for name, value in settings.items()}},
    )
    assert process.stdout
    try:
        yield str(json.loads(process.stdout.readline())["url"]), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stdout.close()


def _load(servers: Sequence[tuple[str, int]], secrets: Sequence[str], seconds: float, seed: int) -> Load:
    """Let the clients ask, each always the same server."""
    before = [_cpu_seconds(pid) for _, pid in servers]
    clients = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.http_load"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
        )
        for _ in servers
    ]
    for place, (client, (url, _)) in enumerate(zip(clients, servers, strict=True)):
        mine = list(secrets[place :: len(servers)])
        # Texts differ between clients and runs, so that every save is a new memory.
        plan = Plan(
            url=url, secrets=mine, queries=made_questions(), seconds=seconds, adds=_ADDS, seed=10 * seed + place
        )
        assert client.stdin
        client.stdin.write(json.dumps(plan))
        client.stdin.close()
    heard = [_answers(client) for client in clients]
    if refused := sum(one.refused for one in heard):
        raise SystemExit(f"python -m bench scale: the servers refused {refused} requests")
    count = max(1, sum(one.requests for one in heard))
    spent = sum(_cpu_seconds(pid) - was for (_, pid), was in zip(servers, before, strict=True))
    return Load(count / seconds, 1000 * spent / count)


def _answers(client: "subprocess.Popen[str]") -> _Heard:
    assert client.stdout
    with client:
        heard = json.loads(client.stdout.read().splitlines()[-1])
    return _Heard(len(heard["milliseconds"]), heard["refused"])


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
