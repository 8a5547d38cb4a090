"""A disk of a few MiB that a test can fill: a tmpfs in a mount namespace of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

_IN_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-e", "-c")

# As `prepare` leaves it, so that a read-only disk is met by a home with nothing left to make.
_PREPARED = 'umask 077; mkdir -p "$1/home/vaults" "$1/home/locks" "$1/home/backups"'


def run_on_small_disk(folder: Path, code: str, *, mib: int, read_only: bool = False) -> str:
    """Run the Python code with `folder` as its first argument, mounted with that size, and give back what it prints."""
    remount = 'mount -o remount,ro "$1"; ' if read_only else ""
    script = f'mount -t tmpfs -o size={mib}m none "$1"; {_PREPARED}; {remount}exec "$2" -c "$3" "$1"'
    command = [*_IN_NAMESPACE, script, "sh", str(folder), sys.executable, code]
    try:
        probe = subprocess.run([*_IN_NAMESPACE, f"mount -t tmpfs none '{folder}'"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if probe.returncode:
        pytest.skip("this system lets no test mount a disk of its own")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
