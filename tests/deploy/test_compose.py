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
from tests.plugins.postgres_pairs import OwnServer
from tests.storage.postgres.engines import engine_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy"
_VARIABLE = re.compile(r"\$\{(\w+):\?\}")
_PASSWORDS = {f"{name}_PASSWORD": f"{name.lower()}1" for name in ("POSTGRES", "MIGRATOR", "SERVICE", "REPLICATION")}
_GIVEN = {**_PASSWORDS, "MASTER_PASSPHRASE": "four words and more"}
_COMPOSE = cast("dict[str, Any]", yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8")))
SERVICES = cast("dict[str, dict[str, Any]]", _COMPOSE["services"])
OURS = sorted(name for name, one in SERVICES.items() if one["image"] == "recollectum")


def _environment(service: str) -> dict[str, str]:
    return {
        name: _VARIABLE.sub(lambda found: _GIVEN[found[1]], value)
        for name, value in SERVICES[service]["environment"].items()
    }


def test_there_are_two_servers_a_primary_a_standby_and_a_server_of_keys() -> None:
    assert set(SERVICES) == {"primary", "standby", "keys", "upgrade", "one", "two"}
    assert OURS == ["one", "two", "upgrade"]


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
    assert [SERVICES[name]["volumes"] for name in ("one", "two")] == [[f"one:{home}"], [f"two:{home}"]]


def _run_script(server: OwnServer, script: str, data: Path, folder: Path, **environ: str) -> None:
    path = f"{folder}:{server.server.programs}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(folder / script)],
        user=server.user,
        cwd=server.place,
        capture_output=True,
        text=True,
        env={**os.environ, **environ, "PATH": path, "PGHOST": str(server.place), "PGDATA": str(data)},
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def scripts(own_server: OwnServer) -> Path:
    """The scripts where the server's user can read them, with a program in the place of the image's entry point."""
    folder = own_server.place / "scripts"
    folder.mkdir()
    for name in ("primary.sh", "standby.sh", "keys.sh"):
        (folder / name).write_bytes((FOLDER / name).read_bytes())
    (folder / "docker-entrypoint.sh").write_text("#!/bin/sh\necho started\n", encoding="utf-8")
    (folder / "docker-entrypoint.sh").chmod(0o755)
    folder.chmod(0o755)
    return folder


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
    _run_script(own_server, "standby.sh", data, scripts, PRIMARY_HOST=str(own_server.place), **_PASSWORDS)
    assert (data / "standby.signal").exists()
    followed = (data / "postgresql.auto.conf").read_text(encoding="utf-8")
    assert "primary_slot_name = 'standby'" in followed
    assert "application_name=standby" in followed
    assert followed.endswith("synchronous_standby_names = ''\n")
    primary = (Path(own_server.server.data) / "postgresql.auto.conf").read_text(encoding="utf-8")
    assert "synchronous_standby_names = 'standby'" in primary
    hba = (data / "pg_hba.conf").read_text(encoding="utf-8")
    assert hba.endswith("host replication replicator all scram-sha-256\n")
