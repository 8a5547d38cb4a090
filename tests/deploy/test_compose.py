"""The compose file fits the program and itself, and its scripts make a database that the program accepts.

No container is started here: images, their entry points and the network between them are not tried.
"""

import configparser
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
import yaml

from recollectum.home.paths import Home
from recollectum.settings.load import load
from tests.plugins.postgres_pairs import OwnServer, ServerPair
from tests.storage.postgres.engines import engine_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy"
_VARIABLE = re.compile(r"\$\{(\w+):\?\}")
_PASSWORDS = {f"{name}_PASSWORD": f"{name.lower()}1" for name in ("POSTGRES", "MIGRATOR", "SERVICE", "REPLICATION")}
_GIVEN = {**_PASSWORDS, "MASTER_PASSPHRASE": "four words and more", "PRIMARY": "primary"}
_COMPOSE = cast("dict[str, Any]", yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8")))
SERVICES = cast("dict[str, dict[str, Any]]", _COMPOSE["services"])
OURS = sorted(name for name, one in SERVICES.items() if one["image"] == "recollectum")
DATABASES = ["primary", "standby"]


def _environment(service: str) -> dict[str, str]:
    return {
        name: _VARIABLE.sub(lambda found: _GIVEN[found[1]], value)
        for name, value in SERVICES[service]["environment"].items()
    }


def test_there_are_two_servers_a_primary_a_standby_and_a_server_of_keys() -> None:
    assert set(SERVICES) == {"primary", "standby", "keys", "upgrade", "one", "two"}
    assert OURS == ["one", "two", "upgrade"]


def test_one_image_is_built_for_all_and_none_is_pulled_in_its_place() -> None:
    assert [name for name in OURS if "build" in SERVICES[name]] == ["upgrade"]
    assert {SERVICES[name]["pull_policy"] for name in OURS} == {"never"}


def test_either_database_server_can_be_the_primary() -> None:
    assert {SERVICES[name]["environment"]["SERVER"] for name in DATABASES} == set(DATABASES)
    for name in DATABASES:
        one = SERVICES[name]
        assert {one["environment"]["SERVER"], one["environment"]["OTHER"]} == set(DATABASES)
        assert one["environment"]["SERVER"] == name
        assert one["environment"]["PRIMARY"] == "${PRIMARY:?}"
        assert one["entrypoint"] == ["bash", "/database.sh"]
        # Only as this user can it make the folder of a copy.
        assert one["user"] == "postgres"
        # Each is copied from the other, so neither waits for the other one's health.
        assert "depends_on" not in one
    example = (FOLDER / ".env.example").read_text(encoding="utf-8")
    assert "\nPRIMARY=primary\n" in example


def test_all_but_the_primary_and_the_standby_start_with_the_machine() -> None:
    # A primary in whose place the standby was promoted must not come back by itself.
    assert {name for name, one in SERVICES.items() if "restart" in one} == set(SERVICES) - {*DATABASES, "upgrade"}


@pytest.mark.parametrize("service", OURS)
def test_each_setting_exists_and_is_accepted(service: str, tmp_path: Path) -> None:
    environ = _environment(service)
    found = load(Home(tmp_path), cwd=tmp_path, environ=environ).settings
    assert found.storage.url == environ["RECOLLECTUM_STORAGE__URL"]
    assert found.encryption == "auto"
    assert environ["RECOLLECTUM_PASSPHRASE"] == _GIVEN["MASTER_PASSPHRASE"]
    assert found.storage.keys_url == environ["RECOLLECTUM_STORAGE__KEYS_URL"]
    assert (urlsplit(found.storage.keys_url).hostname or "") not in urlsplit(found.storage.url).netloc
    assert bool(found.storage.keys_migrator_url) == (service == "upgrade")
    assert found.server.drain_seconds == 5
    assert bool(found.storage.migrator_url) == (service == "upgrade")
    hosts = urlsplit(found.storage.url).netloc.rpartition("@")[2].split(",")
    assert {*hosts, urlsplit(found.storage.keys_url).hostname} <= SERVICES.keys()


@pytest.mark.process
@pytest.mark.parametrize("service", OURS)
def test_each_command_and_option_exists(service: str) -> None:
    name, *options = SERVICES[service]["command"]
    line = [sys.executable, "-m", "recollectum", name, "--help"]
    told = subprocess.run(line, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"}).stdout
    assert all(one in told for one in options if one.startswith("--"))


@pytest.mark.parametrize("service", ["one", "two"])
def test_the_port_is_the_same_everywhere(service: str) -> None:
    one = SERVICES[service]
    port = one["command"][one["command"].index("--port") + 1]
    assert one["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f"http://127.0.0.1:{port}/readyz" in one["healthcheck"]["test"][-1]
    compile(one["healthcheck"]["test"][-1], service, "exec")


def test_no_port_is_given_twice() -> None:
    ports = [port for one in SERVICES.values() for port in one.get("ports", ())]
    assert len(ports) == len(set(ports)) == 2


def test_every_volume_file_service_and_variable_exists() -> None:
    mounted = [mount.split(":")[0] for one in SERVICES.values() for mount in one.get("volumes", ())]
    named = [mount for mount in mounted if not mount.startswith(".")]
    # No two services share a folder: there is one daemon for each home, and one server for each data folder.
    assert sorted(named) == sorted(_COMPOSE["volumes"])
    assert all((FOLDER / mount).is_file() for mount in mounted if mount.startswith("."))
    assert {other for one in SERVICES.values() for other in one.get("depends_on", ())} <= SERVICES.keys()
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    example = configparser.ConfigParser()
    example.read_string("[all]\n" + (FOLDER / ".env.example").read_text(encoding="utf-8"))
    assert set(_VARIABLE.findall(text)) == {name.upper() for name in example["all"]} == _GIVEN.keys()
    assert text.count("${") == len(_VARIABLE.findall(text))


def test_the_image_is_made_from_what_exists() -> None:
    lines = (FOLDER / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [name for line in lines if line.startswith("COPY") for name in line.split()[1:-1]]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    # The builder is sent nothing else, and everything that the project needs to build a wheel.
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"]
    assert sorted(copied) == sorted(sent)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {project["readme"], *project["license-files"]} <= set(copied)
    ours = [one for one in project["optional-dependencies"]["local"] if one.startswith("recollectum-")]
    assert [f"packages/{one.split('>')[0]}" for one in ours] == [one for one in copied if one.startswith("packages/")]
    (extras,) = re.findall(r"/source\[([\w,]+)\]", "\n".join(lines))
    assert set(extras.split(",")) <= project["optional-dependencies"].keys()
    assert 'ENTRYPOINT ["recollectum"]' in lines
    home = next(line.split("=")[1] for line in lines if line.startswith("ENV RECOLLECTUM_HOME="))
    assert f"VOLUME {home}" in lines
    # The guide keeps the key in a volume of its own, which the image's user has to be able to write to.
    kept = re.findall(r"--volume [\w-]+:(\S+)", (ROOT / "docs/guides/install.md").read_text(encoding="utf-8"))
    assert kept == [home, "/home/recollectum/.config/recollectum"]
    (owned,) = re.findall(r"install --directory --owner=recollectum --mode=0700 \\\n +(.+)", "\n".join(lines))
    assert set(kept) <= set(owned.split())
    assert [SERVICES[name]["volumes"] for name in ("one", "two")] == [[f"one:{home}"], [f"two:{home}"]]


def _try_script(
    server: OwnServer, script: str, data: Path, folder: Path, environ: dict[str, str], limit: int = 120
) -> subprocess.CompletedProcess[str]:
    path = f"{folder}:{server.server.programs}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", str(folder / script)],
        user=server.user,
        cwd=server.place,
        capture_output=True,
        text=True,
        env={**os.environ, **environ, "PATH": path, "PGHOST": str(server.place), "PGDATA": str(data)},
        timeout=limit,
    )


def _run_script(server: OwnServer, script: str, data: Path, folder: Path, **environ: str) -> None:
    done = _try_script(server, script, data, folder, environ)
    assert done.returncode == 0, done.stderr


def _lay_out(folder: Path) -> Path:
    """Put the scripts where the server's user can read them, with a program in the place of the image's entry point."""
    folder.mkdir()
    for name in ("primary.sh", "database.sh", "keys.sh"):
        (folder / name).write_bytes((FOLDER / name).read_bytes())
    (folder / "docker-entrypoint.sh").write_text("#!/bin/sh\necho started\n", encoding="utf-8")
    (folder / "docker-entrypoint.sh").chmod(0o755)
    folder.chmod(0o755)
    return folder


@pytest.fixture
def scripts(own_server: OwnServer) -> Path:
    return _lay_out(own_server.place / "scripts")


def _check_database(address: str, folder: Path) -> None:
    """A program can migrate it, and finds its rights as they should be."""
    environ = {
        "RECOLLECTUM_HOME": str(folder / "home"),
        "RECOLLECTUM_STORAGE__URL": f"{address}service",
        "RECOLLECTUM_STORAGE__MIGRATOR_URL": f"{address}migrator",
    }
    line = [sys.executable, "-m", "recollectum", "upgrade"]
    migrated = subprocess.run(line, env={**os.environ, **environ}, capture_output=True, text=True)
    assert "took vault" in migrated.stdout, migrated.stderr
    found = engine_of(folder, f"{address}service").server.findings()
    assert {one.severity for one in found if one.topic in ("rights", "row-level security", "indexes")} == {"fine"}


@pytest.mark.slow
def test_the_scripts_make_a_primary_and_a_standby_that_the_program_accepts(
    own_server: OwnServer, scripts: Path, tmp_path: Path
) -> None:
    login = "recollectum_test_migrator, recollectum_test_application"
    last = "memory"
    # Each has its own server in the file; here they take turns on one.
    for script, name in (("keys.sh", "keys"), ("primary.sh", "memory")):
        own_server.run(f"DROP DATABASE {last} WITH (FORCE)", "postgres")
        own_server.run(f"DROP ROLE {login}, recollectum_owner, recollectum_application", "postgres")
        login, last = "migrator, service", name
        _run_script(own_server, script, Path(own_server.server.data), scripts, **_PASSWORDS)
        _check_database(f"postgresql:///{name}?host={own_server.place}&user=", tmp_path)

    data = own_server.place / "standby"
    # A copy that was interrupted is begun anew.
    half = data.with_name("standby.copy")
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n", encoding="utf-8")
    for one in (half, half / "PG_VERSION"):
        os.chown(one, own_server.user if own_server.user is not None else -1, -1)
    _run_script(own_server, "database.sh", data, scripts, **_roles("standby", own_server, "primary"), **_PASSWORDS)
    assert not half.exists()
    assert (data / "standby.signal").exists()
    followed = (data / "postgresql.auto.conf").read_text(encoding="utf-8")
    assert "primary_slot_name = 'standby'" in followed
    # Its own name, which the primary waits for, and not that of the program that made the copy.
    assert "application_name" not in followed
    assert followed.endswith("synchronous_standby_names = ''\ncluster_name = 'standby'\n")
    assert own_server.run("SELECT slot_name FROM pg_replication_slots", "postgres") == [("standby",)]
    primary = (Path(own_server.server.data) / "postgresql.auto.conf").read_text(encoding="utf-8")
    assert "synchronous_standby_names = 'standby'" in primary
    hba = (data / "pg_hba.conf").read_text(encoding="utf-8")
    assert hba.endswith("host replication replicator all scram-sha-256\n")


def _roles(server: str, other: OwnServer, primary: str) -> dict[str, str]:
    return {"SERVER": server, "OTHER": str(other.place), "PRIMARY": primary}


@pytest.mark.slow
def test_a_primary_that_was_replaced_does_not_come_back_as_one_and_becomes_a_copy(server_pair: ServerPair) -> None:
    primary, standby = server_pair.primary, server_pair.standby
    primary.run("CREATE ROLE replicator LOGIN REPLICATION", "postgres")
    primary.run("CREATE TABLE kept (note text)")
    for one in (primary, standby):
        _lay_out(one.place / "scripts")

    def start(one: OwnServer, named: str, other: OwnServer, chosen: str) -> subprocess.CompletedProcess[str]:
        roles = _roles(named, other, chosen)
        return _try_script(one, "database.sh", Path(one.server.data), one.place / "scripts", roles | _PASSWORDS)

    server_pair.wait_for_replay()
    for chosen in ("primary", "standby"):
        # What the other one says goes before the setting: nothing is copied over a primary that is followed.
        assert start(primary, "primary", standby, chosen).stdout == "started\n"
    primary.kill()
    assert start(primary, "primary", standby, "primary").stdout == "started\n"

    standby.promote()
    standby.run("CHECKPOINT", "postgres")
    standby.run("INSERT INTO kept VALUES ('after')")
    refused = start(primary, "primary", standby, "primary")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "was promoted: write PRIMARY=" in refused.stderr
    # And with the old setting the promoted one is not overwritten by what was there before.
    primary.start()
    refused = start(standby, "standby", primary, "primary")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "write PRIMARY=standby into .env" in refused.stderr
    primary.kill()

    assert start(primary, "primary", standby, "standby").stdout.endswith("started\n")
    assert (Path(primary.server.data) / "standby.signal").exists()
    assert standby.run("SELECT slot_name FROM pg_replication_slots", "postgres") == [("primary",)]
    assert standby.run("SELECT note FROM kept") == [("after",)]


@pytest.mark.slow
def test_a_primary_alone_starts_and_a_former_one_waits(own_server: OwnServer, tmp_path: Path) -> None:
    scripts = _lay_out(own_server.place / "scripts")
    away = {"SERVER": "primary", "OTHER": str(tmp_path / "nowhere"), **_PASSWORDS}
    data = Path(own_server.server.data)
    done = _try_script(own_server, "database.sh", data, scripts, {**away, "PRIMARY": "primary"})
    assert (done.returncode, done.stdout) == (0, "started\n")
    with pytest.raises(subprocess.TimeoutExpired) as waited:
        _try_script(own_server, "database.sh", data, scripts, {**away, "PRIMARY": "standby"}, limit=8)
    assert b"write PRIMARY=primary into .env" in (waited.value.stderr or b"")
