"""Two days, two channels, each life ended by SIGKILL: what was told comes back, and to the right person only."""

import json
import os
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.matrix.homes import START
from tests.vault.days_program import LISBON, PORTO, TEA

pytestmark = pytest.mark.process

MONDAY = START
TUESDAY = START + timedelta(days=1)
_ROOT = Path(__file__).parents[2]


def live(place: Path, at: datetime, identity: str, *said: str) -> dict[str, Any]:
    """One life of the agent, which does not end by its own will."""
    path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = [sys.executable, "-m", "tests.vault.days_program", str(place), at.isoformat(), identity, *said]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == -signal.SIGKILL, done.stderr
    return json.loads(done.stdout)


@pytest.mark.feature("A7")
@pytest.mark.feature("A8")
def test_what_is_told_on_monday_is_known_on_tuesday_on_another_channel_to_nobody_else(place: Path) -> None:
    monday = live(place, MONDAY, "telegram:1", PORTO, TEA)
    tuesday = live(place, TUESDAY, "whatsapp:1", LISBON)
    assert tuesday["read"] == 1
    assert PORTO in tuesday["context"]
    assert TEA in tuesday["context"]
    assert tuesday["session"] != monday["session"]
    stranger = live(place, TUESDAY, "telegram:2", "Hello")
    assert not any(fact in json.dumps(stranger) for fact in (PORTO, TEA, LISBON))
    evening = live(place, TUESDAY + timedelta(hours=2), "telegram:1", "Good evening")
    assert LISBON in evening["context"]
    assert sorted(evening["known"]) == sorted([LISBON, TEA])
    # Monday's session was read and ended: a clean slate.
    assert evening["session"] != monday["session"]
    assert sorted(evening["past"]) == sorted([PORTO, TEA])
