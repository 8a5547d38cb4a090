"""Runs 50 clients on 50 vaults over HTTP, 80 % recall and 20 % add, against bare FastAPI with the same SQLite work.

`python -m bench http [--seconds 20] [--rounds 3] [--soak-minutes 0] [--clients 50]`. Keyword search only: embedding the
question would take the same time on both sides, and hide what is measured. Both servers have one process and the same
encrypted files; the clients run in a separate process.
"""

import argparse
import json
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.http_load import Plan, percentile
from bench.http_script import PerVault, taped
from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.vault.intake.draft import Draft
from tests.crashes.homes import file_of

_ROOT = Path(__file__).parents[1]
_MEMORIES = sized(300, 10)
_QUERIES = 20
_SOAK_ADDS = 360
_TEXT = (
    "tea coffee morning bakery river piano sunday sister lisbon spring weather train plane history sleep garden tomato "
    "bicycle doctor allergy penicillin hiking mountain camera project deadline launch budget invoice client dinner"
)
_WORDS = _TEXT.split()
_SETTINGS = {"embedding.provider": "none"}


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one run of the clients."""

    per_second: float
    p50: float
    p99: float
    refused: int
    kept: list[tuple[int, str]]


def main(arguments: Sequence[str] = ()) -> None:
    """Print throughput and latency of both, their ratio, memory over time, and what a SIGKILL lost."""
    asked = _arguments(arguments)
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        base, queries = Path(folder) / "base", _queries()
        secrets = _found(base, asked.clients)
        scripts = _scripts(base, Path(folder) / "tape", secrets, queries, asked.adds)
        plan = Plan(url="", secrets=secrets, queries=queries, seconds=asked.seconds, adds=asked.adds, seed=0)
        ours, bare = _compare(base, Path(folder), scripts, plan, asked.rounds)
        _show(ours, bare)
        _show_life(base, Path(folder), plan, asked.soak_minutes, asked.soak_steps)


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench http")
    parser.add_argument("--seconds", type=float, default=sized(20.0, 1.0))
    parser.add_argument("--rounds", type=int, default=sized(3, 1))
    parser.add_argument("--clients", type=int, default=sized(50, 3))
    parser.add_argument("--adds", type=int, default=sized(200, 5), help="at most so many by each client and round")
    parser.add_argument("--soak-minutes", type=float, default=0)
    parser.add_argument("--soak-steps", type=int, default=12, help="how often memory is looked at")
    return parser.parse_args(list(arguments))


def _queries() -> list[str]:
    chance = random.Random(2)
    return [f"what about the {' and the '.join(chance.sample(_WORDS, 3))}?" for _ in range(_QUERIES)]


def _found(home: Path, clients: int) -> list[str]:
    """Create a home with a vault for each client; return their secrets."""
    chance = random.Random(1)
    secrets: list[str] = []
    with Recollectum(home, settings=_SETTINGS) as r:
        for number in range(clients):
            person = f"user:client{number}"
            r.people.add(person)
            r.vault(person).memories.save_many(
                Draft(content=f"{place}: {' '.join(chance.choices(_WORDS, k=14))}") for place in range(_MEMORIES)
            )
            secrets.append(r.keys.add(person)[1])
    return secrets


def _scripts(
    base: Path, folder: Path, secrets: Sequence[str], queries: Sequence[str], adds: int
) -> dict[str, PerVault]:
    """Record what recalls and adds of each vault run, on a copy of the home; the paths are those of another copy."""
    shutil.copytree(base, folder)
    scripts: dict[str, PerVault] = {}
    with taped() as tape, Recollectum(folder, settings=_SETTINGS) as r:
        keys = r.encryption()
        for number, secret in enumerate(secrets):
            vault = r.vault(f"user:client{number}")
            file = file_of(r, vault.owner)
            script = scripts[secret] = PerVault(f"vaults/{file.name}", keys.key(file.stem))
            for query in queries:
                # Once for the work of a first query, and once as all later ones are.
                vault.recall(query, limit=10)
                tape.take()
                vault.recall(query, limit=10)
                script.recalls[query] = tape.take()
            for place in range(adds):
                vault.memories.save(f"client {number} of run 0 likes number {place} best")
                script.adds.append(tape.take())
    shutil.rmtree(folder)
    return scripts


def _compare(
    base: Path, folder: Path, scripts: dict[str, PerVault], plan: Plan, rounds: int
) -> tuple[list[Run], list[Run]]:
    """Run both alternately, so that other load affects both."""
    ours: list[Run] = []
    bare: list[Run] = []
    for number in range(rounds):
        for runs, start in ((ours, _our_server), (bare, _bare_server)):
            home = folder / f"round{number}"
            shutil.copytree(base, home)
            with start(home, scripts) as (url, _):
                _load({**plan, "url": url, "seconds": min(2, plan["seconds"] / 2), "adds": 0})
                runs.append(_load({**plan, "url": url}))
            shutil.rmtree(home)
    return ours, bare


@contextmanager
def _our_server(home: Path, _scripts: dict[str, PerVault]) -> Generator[tuple[str, subprocess.Popen[str]]]:
    program = Path(sys.executable).with_name("recollectum")
    line = [str(program), "serve", "--port", "0", "--json", "--home", str(home)]
    with _started(line) as (said, process):
        yield str(json.loads(said)["url"]), process


@contextmanager
def _bare_server(home: Path, scripts: dict[str, PerVault]) -> Generator[tuple[str, subprocess.Popen[str]]]:
    for script in scripts.values():
        script.path = str(home / "vaults" / Path(script.path).name)
    file = home.with_suffix(".scripts")
    file.write_bytes(pickle.dumps(scripts))
    with _started([sys.executable, "-m", "bench.http_bare", str(file)]) as (said, process):
        yield f"http://127.0.0.1:{said.strip()}", process


@contextmanager
def _started(line: Sequence[str]) -> Generator[tuple[str, subprocess.Popen[str]]]:
    environ_settings = ["env", "RECOLLECTUM_EMBEDDING__PROVIDER=none", "RECOLLECTUM_SERVER__RATE_PER_MINUTE=0"]
    limits = ["RECOLLECTUM_SERVER__ADDRESS_RATE_PER_MINUTE=0"]
    process = subprocess.Popen([*environ_settings, *limits, *line], stdout=subprocess.PIPE, text=True, cwd=_ROOT)
    assert process.stdout
    try:
        yield process.stdout.readline(), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stdout.close()


def _load(plan: Plan) -> Run:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "bench.http_load"],
        input=json.dumps(plan),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=_ROOT,
    )
    heard = json.loads(done.stdout.splitlines()[-1])
    times: list[float] = heard["milliseconds"]
    spent = min(plan["seconds"], time.perf_counter() - began)
    kept = [(int(number), str(text)) for number, text in heard["kept"]]
    return Run(len(times) / spent, percentile(times, 0.5), percentile(times, 0.99), heard["refused"], kept)


def _show(ours: Sequence[Run], bare: Sequence[Run]) -> None:
    print("| server | requests/s | p50 ms | p99 ms | refused |\n|---|---|---|---|---|")
    for name, runs in (("recollectum", ours), ("bare", bare)):
        numbers = [median(getattr(run, what) for run in runs) for what in ("per_second", "p50", "p99")]
        shown = " | ".join(f"{number:.1f}" for number in numbers)
        print(f"| {name} | {shown} | {sum(run.refused for run in runs)} |")
    slower = median(run.per_second for run in bare) / median(run.per_second for run in ours)
    longer = median(run.p99 for run in ours) / median(run.p99 for run in bare)
    print(f"throughput {slower:.2f} times less, p99 {longer:.2f} times more (each at most 2 is wanted)", flush=True)


def _show_life(base: Path, folder: Path, plan: Plan, soak_minutes: float, soak_steps: int) -> None:
    """Show one server: its memory under continuous load, and what is lost when it is killed while clients write."""
    home = folder / "life"
    shutil.copytree(base, home)
    with _our_server(home, {}) as (url, process):
        if soak_minutes:
            _soak({**plan, "url": url}, process.pid, soak_minutes, soak_steps)
        kept = _killed({**plan, "url": url, "seconds": 30}, process, after=min(4, plan["seconds"]))
    print(f"SIGKILL in the middle: {len(kept)} adds acknowledged, {_lost(home, kept)} lost", flush=True)


def _killed(plan: Plan, process: subprocess.Popen[str], *, after: float) -> list[tuple[int, str]]:
    """Return what was acknowledged before the server died."""
    line = [sys.executable, "-m", "bench.http_load"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT) as load:
        assert load.stdin
        assert load.stdout
        load.stdin.write(json.dumps(plan))
        load.stdin.close()
        # The clients say when they begin, so that a slow machine does not kill before anything was written.
        load.stdout.readline()
        time.sleep(after)
        process.kill()
        heard = json.loads(load.stdout.read())
    return [(int(number), str(text)) for number, text in heard["kept"]]


def _lost(home: Path, kept: Sequence[tuple[int, str]]) -> int:
    with Recollectum(home, settings=_SETTINGS) as r:
        there = {
            number: {memory.content for memory in r.vault(f"user:client{number}").memories.list(limit=1000)}
            for number in {number for number, _ in kept}
        }
    return sum(text not in there[number] for number, text in kept)


def _soak(plan: Plan, pid: int, minutes: float, steps: int) -> None:
    """Print the server's memory after each step; the first quarter lets caches fill."""
    resident: list[float] = []
    for step in range(steps):
        _load({**plan, "seconds": minutes * 60 / steps, "adds": _SOAK_ADDS // steps, "seed": step + 1})
        resident.append(_resident_mib(pid))
        print(f"after {minutes * (step + 1) / steps:.1f} min: {resident[-1]:.0f} MiB", flush=True)
    later = resident[-1] / resident[steps // 4]
    print(f"memory at the end is {later:.2f} of that after a quarter of the time", flush=True)


def _resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


if __name__ == "__main__":
    main(sys.argv[1:])
